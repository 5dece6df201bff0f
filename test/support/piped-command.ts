import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';

/** Runs an operator's command in its own process, with a pipe as standard output. */
export async function runPiped(
  argv: readonly string[],
): Promise<{ status: number; stdout: Buffer; stderr: string }> {
  const run = `import('./cli/merchants.ts').then(({ start }) => start(${JSON.stringify(argv)}))
    .then((status) => { process.exitCode = status; })`;
  const child = spawn(process.execPath, ['--import', 'tsx', '-e', run], {
    cwd: path.join(import.meta.dirname, '..', '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { status, stdout, stderr };
}
