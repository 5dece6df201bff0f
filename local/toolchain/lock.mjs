import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * One process at a time runs `task`, among all that name the same file. The lock is a symbolic link whose
 * target names its holder: made in one step or not at all, and nobody's when that process is gone, also by
 * SIGKILL.
 */
export async function withLock(file, task) {
  const self = `${process.pid}.${startOf(process.pid)}`;
  mkdirSync(path.dirname(file), { recursive: true });
  for (let waiting = false; !take(file, self); waiting = true) {
    if (!waiting) process.stderr.write('Waiting for another start of this checkout …\n');
    await sleep(100);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await task();
  } finally {
    process.off('exit', release);
    release();
  }
}

function take(file, self) {
  try {
    symlinkSync(self, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = linkTarget(file);
  if (holder !== undefined && !isRunning(holder)) setAside(file, holder);
  return false;
}

/** Removes the lock of a process that is gone, but never one that another process took in between. */
function setAside(file, holder) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    const taken = linkTarget(aside);
    if (taken !== holder) symlinkSync(taken, file);
    rmSync(aside);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
}

function linkTarget(file) {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

function isRunning(holder) {
  const [pid, ...start] = holder.split('.');
  return startOf(Number(pid)) === start.join('.');
}

/** When a process started, since its number may be another's by now; undefined when there is none. */
function startOf(pid) {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-p', String(pid), '-o', 'lstart='], { encoding: 'utf8' }).trim();
    }
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}
