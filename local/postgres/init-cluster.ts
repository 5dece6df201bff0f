import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { CHILD_ENVIRONMENT } from '../toolchain/child-environment.js';
import { spawnGuarded } from '../toolchain/guarded-process.js';
import { isAlive } from '../toolchain/is-alive.js';
import type { SystemUser } from '../toolchain/system-user.js';

interface InitClusterOptions {
  bin: string;
  dataDir: string;
  superuser: string;
  user: SystemUser | undefined;
  extraArgs: readonly string[];
}

/**
 * Creates the cluster if there is none. It is built under another name and renamed at the end, so that an interrupted
 * initdb never looks like a cluster, and the second of two starts finds a complete one.
 */
export async function initCluster({
  bin,
  dataDir,
  superuser,
  user,
  extraArgs,
}: InitClusterOptions): Promise<void> {
  await removeAbandoned(dataDir);
  if (isCluster(dataDir)) return;
  const unfinished = `${dataDir}.init-${process.pid}-${randomBytes(4).toString('hex')}`;
  // `trust`: the socket's folder keeps other users out. No locale: rows sort alike on every machine.
  const args = [
    '-U',
    superuser,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-locale',
    '--no-instructions',
    ...extraArgs,
  ];
  const initdb = spawnGuarded(path.join(bin, 'initdb'), ['-D', unfinished, ...args], {
    user,
    environment: CHILD_ENVIRONMENT,
  });
  const code = await initdb.exited;
  if (code !== 0) {
    await rm(unfinished, { recursive: true, force: true });
    throw new Error(`initdb failed with code ${code}:\n${initdb.recentOutput()}`);
  }
  try {
    await rename(unfinished, dataDir);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!isCluster(dataDir)) throw error;
  }
}

function isCluster(dataDir: string): boolean {
  return existsSync(path.join(dataDir, 'PG_VERSION'));
}

/** Removes the folders of starts that were killed. */
async function removeAbandoned(dataDir: string): Promise<void> {
  const prefix = `${path.basename(dataDir)}.init-`;
  const base = path.dirname(dataDir);
  for (const name of await readdir(base)) {
    if (!name.startsWith(prefix)) continue;
    if (isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    await rm(path.join(base, name), { recursive: true, force: true });
  }
}
