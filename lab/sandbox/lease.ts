import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';

/**
 * One sandbox at a time writes to a folder. The lease is a symbolic link that names its holder, made in one step or
 * not at all, and nobody's once that process is gone, however it ended. True when it is this process's now.
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
    if (holder !== undefined) setAside(file, holder);
  }
}

/** Removes the lease of a process that is gone, but never one that another process took in between. */
function setAside(file: string, holder: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    const taken = readHolder(aside);
    if (taken !== undefined && taken !== holder) symlinkSync(taken, file);
  } catch {
    // Another process was faster: the next round sees.
  }
  rmSync(aside, { force: true });
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

/** When a process started, since its number may be another's by now; undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-p', `${pid}`, '-o', 'lstart='], { encoding: 'utf8' }).trim();
    }
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    // A zombie has ended.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
