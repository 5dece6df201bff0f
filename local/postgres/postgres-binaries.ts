import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { runAs, type SystemUser } from '../toolchain/system-user.js';
import { bundledPackage, copyPackage, linkLibraries } from './postgres-package.js';

interface PostgresBinaries {
  bin: string;
  /** The version as Postgres prints it, for example "18.4". */
  version: string;
  major: string;
}

interface FindBinariesOptions {
  /** The user that will run the database. */
  user: SystemUser | undefined;
  /** Copies the package here when that user cannot run it in place. */
  copyInto: string;
  /** Use the programs in this folder and search nowhere else. */
  binDir?: string | undefined;
  /** The npm package's `native` folder. */
  packageDir?: string | undefined;
}

/** Folders with one Postgres per version, and the programs' path inside: Debian, Alpine, Red Hat, Homebrew. */
const VERSIONED_FOLDERS = [
  { parent: '/usr/lib/postgresql', programs: 'bin' },
  { parent: '/usr/libexec', programs: '' },
  { parent: '/usr', programs: 'bin' },
  { parent: '/opt/homebrew/opt', programs: 'bin' },
  { parent: '/usr/local/opt', programs: 'bin' },
];

/**
 * Finds the npm package with this platform's binaries, else a Postgres of the system. A folder qualifies when the
 * database's user can run its programs.
 */
export async function findPostgresBinaries(options: FindBinariesOptions): Promise<PostgresBinaries> {
  const { user, copyInto, binDir, packageDir = bundledPackage() } = options;
  const refusals: string[] = [];
  const attempt = async (bin: string): Promise<PostgresBinaries | undefined> => {
    const found = await probe(bin, user);
    if (typeof found !== 'string') return found;
    refusals.push(`${bin}: ${found}`);
    return undefined;
  };
  const attemptPackage = async (native: string): Promise<PostgresBinaries | undefined> => {
    const complete = await linkLibraries(native);
    const bin = path.join(native, 'bin');
    const found = await attempt(bin);
    if (found !== undefined) return found;
    // A copy helps when only the location is wrong, not when the binaries are for another system (Alpine).
    const wrongPlace = !complete || (user !== undefined && typeof (await probe(bin, undefined)) !== 'string');
    return wrongPlace ? attempt(path.join(await copyPackage(native, copyInto), 'bin')) : undefined;
  };

  let found: PostgresBinaries | undefined;
  if (binDir === undefined && packageDir !== undefined) found = await attemptPackage(packageDir);
  if (found === undefined) {
    for (const bin of binDir === undefined ? await systemFolders() : [binDir]) found ??= await attempt(bin);
  }
  if (found !== undefined) return found;
  const advice = 'run "npm ci" with optional dependencies, install Postgres, or set DATABASE_URL';
  throw new Error([`There is no Postgres that runs here: ${advice}.`, ...refusals].join('\n  '));
}

/** The version of the programs in a folder, or the reason why they cannot be used. */
async function probe(bin: string, user: SystemUser | undefined): Promise<PostgresBinaries | string> {
  const initdb = await runAs(user, path.join(bin, 'initdb'), ['--version']);
  const postgres = await runAs(user, path.join(bin, 'postgres'), ['--version']);
  if (!initdb.succeeded || !postgres.succeeded) return initdb.stderr || postgres.stderr;
  const [, version, major] = /\(PostgreSQL\) ((\d+)\S*)/.exec(postgres.stdout) ?? [];
  if (version === undefined || major === undefined) return `unknown version "${postgres.stdout.trim()}"`;
  return { bin, version, major };
}

async function systemFolders(): Promise<string[]> {
  const onPath = await folderOnPath();
  const folders = onPath === undefined ? [] : [onPath];
  for (const { parent, programs } of VERSIONED_FOLDERS) {
    const names = await readdir(parent).catch(() => []);
    const versions = names.filter((name) => /^((postgresql|pgsql)[@-]?)?\d+$/.test(name));
    versions.sort((a, b) => Number(b.replace(/\D/g, '')) - Number(a.replace(/\D/g, '')));
    folders.push(...versions.map((name) => path.join(parent, name, programs)));
  }
  const present = folders.filter((folder) => existsSync(path.join(folder, 'postgres')));
  // A link in a PATH folder may stand there alone, and initdb looks for postgres beside itself.
  const real = present.map(async (folder) => path.dirname(await realpath(path.join(folder, 'postgres'))));
  return [...new Set(await Promise.all(real))];
}

/** A shell reads PATH, because only shared/config/config.ts may read the environment. */
function folderOnPath(): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-c', 'command -v postgres'], (error, stdout) => {
      resolve(error === null ? path.dirname(stdout.trim()) : undefined);
    });
  });
}
