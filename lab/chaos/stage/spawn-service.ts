import { type ChildProcessByStdio, spawn } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';

/** How a process is started: by node, or as platforms do, by npm. */
export type Launcher = 'node' | 'npm';

export interface Program {
  kind: 'web' | 'worker';
  launcher: Launcher;
  /** How far its clock is ahead. */
  clockOffsetMs: number;
  environment: Record<string, string>;
}

const ENTRIES = { web: 'api/server.js', worker: 'workers/main.js' };
const PRELOAD = pathToFileURL(path.join(projectRoot(), 'lab', 'chaos', 'stage', 'preload.mjs')).href;
/** npm asks nobody for news of itself. */
const NPM = { npm_config_update_notifier: 'false', npm_config_logs_max: '0' };

/** With a process group of its own, to be signalled as a whole. */
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

/** Whether there was anybody to hear it. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): boolean {
  if (leader === undefined) return false;
  try {
    return process.kill(-leader, signal);
  } catch {
    return false; // It has ended.
  }
}
