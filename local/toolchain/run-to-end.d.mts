export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  stdout?: 'inherit' | number;
  stopWith?: 'KILL' | 'TERM';
}

export function runToEnd(command: string, args: readonly string[], options?: RunOptions): Promise<number>;
