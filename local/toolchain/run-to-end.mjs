import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';

const WATCHDOG = readFileSync(new URL('watchdog.sh', import.meta.url), 'utf8').replace(/^#.*\n/gm, '');
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command and resolves with its exit code. A signal to this process, even SIGKILL, first ends the command and its
 * children (watchdog.sh). `stopWith` is KILL unless the command must clean up: npm does not react to less. Its output goes
 * to standard error unless `stdout` is 'inherit'.
 */
export function runToEnd(command, args, { cwd, env = process.env, stdout = 2, stopWith = 'KILL' } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', stopWith, command, ...args], {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', stdout, 2],
    });
    let received;
    const stop = (signal) => {
      received = signal;
      child.stdin.end();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
    child.stdin.on('error', () => {
      // The shell has ended already; its exit reports it.
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (received !== undefined) process.exit(128 + os.constants.signals[received]);
      for (const signal of SIGNALS) process.off(signal, stop);
      resolve(code ?? 1);
    });
  });
}
