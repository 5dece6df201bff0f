import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `task` in one process at a time among all that name the same file. The lock is a symbolic link whose target
 * names its holder: creating a link is atomic, and the lock is free once that process has ended, even by SIGKILL.
 */
export async function withLock(file, task) {
  const self = `${process.pid}.${startOf(process.pid)}`;
  mkdirSync(path.dirname(file), { recursive: true });
  for (let waiting = false; !take(file, self); waiting = true) {
    if (!waiting)
      process.stderr.write('Waiting for another process that installs or builds this checkout …\n');
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
  if (holder !== undefined && !isRunning(holder)) removeStaleLock(file, holder);
  return false;
}

/** Removes the lock of a process that has ended. If another process took the lock in between, its link is put back. */
function removeStaleLock(file, holder) {
  const moved = `${file}.${process.pid}`;
  try {
    renameSync(file, moved);
    const taken = linkTarget(moved);
    if (taken !== holder) symlinkSync(taken, file);
    rmSync(moved);
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

/** The process's start time, because the system reuses process ids; undefined when no such process runs. */
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
