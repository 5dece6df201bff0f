import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { projectRoot } from './project-root.js';
import type { SystemUser } from './system-user.js';

/**
 * A child process that never outlives this one: a shell between the two (watchdog.sh) holds a pipe from here and stops
 * the child when the pipe ends, even after SIGKILL. The child has a process group of its own, so that Ctrl-C in a
 * terminal reaches the application alone, which then stops its database last.
 */
export interface GuardedProcess {
  /** Resolves with the exit code once the process and all processes that share its output have ended. */
  readonly exited: Promise<number>;
  hasExited(): boolean;
  /** The end of its output, for error messages. */
  recentOutput(): string;
  /** Lets this process end before the guarded one, which the pipe still ends then. */
  unref(): void;
  stop(): Promise<void>;
}

interface GuardedProcessOptions {
  user?: SystemUser | undefined;
  /** This process's own environment by default. */
  environment?: Record<string, string>;
  onOutput?: (text: string) => void;
}

const OUTPUT_CHARS_KEPT = 4000;
/**
 * TERM alone lets Postgres wait for its clients. INT alone is lost on a process that has not set its handler yet: a
 * shell starts background commands with INT ignored.
 */
const STOP_SIGNALS = 'TERM INT';
const STOP_LADDER = [
  { afterMs: 10_000, signal: 'SIGQUIT' },
  { afterMs: 15_000, signal: 'SIGKILL' },
] as const;

// The script is read at load time: the file may be unreadable after this process gives up root.
const WATCHDOG = readFileSync(path.join(projectRoot(), 'local', 'toolchain', 'watchdog.sh'), 'utf8').replace(
  /^#.*\n/gm,
  '',
);

export function spawnGuarded(
  command: string,
  args: readonly string[],
  { user, environment, onOutput }: GuardedProcessOptions = {},
): GuardedProcess {
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', STOP_SIGNALS, command, ...args], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment,
  });
  let output = '';
  let exited = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_CHARS_KEPT);
      onOutput?.(text);
    });
  }
  child.stdin.on('error', () => {
    // The shell has ended already; `exited` reports it.
  });
  const end = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      output += error.message;
    });
    child.once('close', (code) => {
      exited = true;
      resolve(code ?? 1);
    });
  });
  return {
    exited: end,
    hasExited: () => exited,
    recentOutput: () => output.trim(),
    unref() {
      child.unref();
      for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
    },
    async stop() {
      if (exited) return;
      child.ref();
      child.stdin.end();
      const timers = STOP_LADDER.map(({ afterMs, signal }) =>
        setTimeout(() => signalGroup(child.pid, signal), afterMs),
      );
      await end;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // The group ended between the check and the signal.
  }
}
