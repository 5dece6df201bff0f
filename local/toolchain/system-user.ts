import { execFile } from 'node:child_process';
import { CHILD_ENVIRONMENT } from './child-environment.js';

/**
 * Postgres refuses to run as root, and initdb needs an entry in /etc/passwd for its user. So root runs it as `postgres`,
 * else as `nobody`: these users exist almost everywhere, and no user is ever created.
 */
export interface SystemUser {
  uid: number;
  gid: number;
}

const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/**
 * `owner` is the uid that owns the database's folder already, if any. It has priority: the cluster inside belongs to
 * it, and a `postgres` user created since could not read it.
 */
export function chooseServerUser(passwd: string, owner: number): SystemUser {
  const entries = parsePasswd(passwd);
  const previous = owner === 0 ? undefined : entries.find((entry) => entry.uid === owner);
  const names = CANDIDATES.map((name) => entries.find((entry) => entry.name === name));
  const chosen = previous ?? names.find((entry) => entry !== undefined);
  if (chosen === undefined) {
    throw new Error(
      'Postgres does not run as root, and there is no user "postgres" or "nobody" to run it as: ' +
        'start as an ordinary user, or set DATABASE_URL.',
    );
  }
  return { uid: chosen.uid, gid: chosen.gid };
}

interface PasswdEntry {
  name: string;
  uid: number;
  gid: number;
}

function parsePasswd(text: string): PasswdEntry[] {
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

interface CommandResult {
  succeeded: boolean;
  stdout: string;
  stderr: string;
}

/** Runs a short command as that user, or as this process's own when it is undefined. */
export function runAs(user: SystemUser | undefined, command: string, args: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(command, args, { ...user, cwd: '/', env: CHILD_ENVIRONMENT }, (error, stdout, stderr) => {
      resolve({ succeeded: error === null, stdout, stderr: stderr.trim() || (error?.message ?? '') });
    });
  });
}
