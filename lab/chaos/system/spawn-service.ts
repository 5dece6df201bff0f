import { type ChildProcessByStdio, spawn } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';

/** How a process is started: by node, or by npm, as hosting platforms do. */
export type Launcher = 'node' | 'npm';

export interface Program {
  kind: 'web' | 'worker';
  launcher: Launcher;
  /** How far its clock is ahead. */
  clockOffsetMs: number;
  environment: Record<string, string>;
}

const ENTRIES = { web: 'api/server.js', worker: 'workers/main.js' };
const PRELOAD = pathToFileURL(path.join(projectRoot(), 'lab', 'chaos', 'system', 'preload.mjs')).href;
/** Keeps npm from checking for updates and writing logs. */
const NPM = { npm_config_update_notifier: 'false', npm_config_logs_max: '0' };

/** Starts the process in a group of its own, which is signalled as a whole. */
export function spawnService(program: Program): ChildProcessByStdio<Writable, Readable, Readable> {
  const { kind, launcher, clockOffsetMs, environment } = program;
  const [command, args] =
    launcher === 'npm' ? ['npm', ['run', kind]] : [process.execPath, [path.join('dist', ENTRIES[kind])]];
  return spawn(command, args, {
    cwd: projectRoot(),
    detached: true,
    env: {
      ...CHILD_ENVIRONMENT,
      ...NPM,
      PATH: `${path.dirname(process.execPath)}:${CHILD_ENVIRONMENT.PATH}`,
      NODE_OPTIONS: `--import ${PRELOAD}`,
      CHAOS_CLOCK_OFFSET_MS: String(clockOffsetMs),
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** False when the group has ended. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): boolean {
  if (leader === undefined) return false;
  try {
    return process.kill(-leader, signal);
  } catch {
    return false; // The group has ended.
  }
}
