import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';

/**
 * A lock file: one sandbox at a time writes to a folder. The lease is a symbolic link that names the holder's process,
 * because creating a link is atomic; it is free once that process has ended, even by a crash. Returns true when this
 * process now holds it.
 */
export function takeLease(file: string): boolean {
  const self = `${process.pid}.${startOf(process.pid)}`;
  for (;;) {
    try {
      symlinkSync(self, file);
      process.once('exit', () => rmSync(file, { force: true }));
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const holder = readHolder(file);
    if (holder !== undefined && isRunning(holder)) return false;
    if (holder !== undefined) removeStaleLease(file, holder);
  }
}

/**
 * Removes the lease of a process that has ended. If another process took the lease in between, its link is put back.
 */
function removeStaleLease(file: string, holder: string): void {
  const moved = `${file}.${process.pid}`;
  try {
    renameSync(file, moved);
    const taken = readHolder(moved);
    if (taken !== undefined && taken !== holder) symlinkSync(taken, file);
  } catch {
    // Another process was faster: the caller's next attempt reads its lease.
  }
  rmSync(moved, { force: true });
}

function readHolder(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

function isRunning(holder: string): boolean {
  const [pid, ...start] = holder.split('.');
  return startOf(Number(pid)) === start.join('.');
}

/** The process's start time, because the system reuses process ids; undefined when no such process runs. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-p', `${pid}`, '-o', 'lstart='], { encoding: 'utf8' }).trim();
    }
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    // A zombie process has ended.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
