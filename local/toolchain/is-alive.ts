import { hasCode } from '../../shared/process/error-code.js';

/** Whether a process with this id runs, of whatever user. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
