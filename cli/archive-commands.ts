import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  type Archived,
  type ArchivedMonth,
  archiveMonths,
  copyMonths,
  type KeptMonth,
} from '../shared/archive/archive.js';
import { pipePart } from '../shared/archive/pipe-part.js';
import { removeStored } from '../shared/archive/remove-stored.js';
import type { Knex } from '../shared/db/knex.js';
import { nowMs } from '../shared/process/clock.js';
import { isMonth, type Month, monthAt, monthsAfter } from '../shared/values/months.js';
import { type Command, PartialFailure } from './command.js';
import { UsageError } from './parse-command-line.js';

const PIPE = '-';
/** The current and the previous month are never archived: clean-up still changes their rows, and buyers still read them. */
const KEPT_MONTHS = 2;

const USAGE = '--before 2025-01 --to <folder>|-, and after --to - with the stored output as input: --confirm';

export const ARCHIVE_COMMANDS: Readonly<Record<string, Command>> = {
  archive: {
    usage: USAGE,
    options: ['before', 'to'],
    flags: ['confirm'],
    // A month takes minutes, too long for one transaction.
    changes: 'piecemeal',
    writesDataToStdout: ({ to }) => to === PIPE,
    async run(db, { before, to, confirm }, audit) {
      if (confirm !== undefined) {
        requireStored(before ?? to);
        await audit.record(db);
        return await inTemporaryFolder(async (folder) =>
          presentAnswer(await removeStored(db, folder, process.stdin)),
        );
      }
      const run = { before: readBefore(before), onWritten: async (): Promise<void> => {} };
      const target = readTarget(to);
      await audit.record(db);
      if (target !== PIPE) return presentAnswer(await archiveMonths(db, { ...run, folder: target }));
      return await inTemporaryFolder((folder) => writeToPipe(db, run.before, folder));
    },
  },
};

/** Deletes nothing: only rows that are read back from the storage are surely there. */
async function writeToPipe(db: Knex, before: Month, folder: string): Promise<object> {
  const sum = createHash('sha256');
  const { written, kept } = await copyMonths(db, {
    before,
    folder,
    onWritten: (part, written) => pipePart(written, part, process.stdout, sum),
  });
  const answer = {
    written: written.map((part) => ({ month: part.month, part: part.part, files: part.files })),
    kept: kept.map(presentKept),
    ...(written.length > 0 && {
      sha256: sum.digest('hex'),
      next: 'Nothing is removed yet. Compare the SHA-256 with that of the stored output, then give that to "archive --confirm".',
    }),
  };
  if (kept.length === 0) return answer;
  throw new PartialFailure(`Not everything was written: ${kept.map(describeKept).join('; ')}.`, answer);
}

async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'checkout-archive-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function requireStored(other: string | undefined): void {
  if (other !== undefined) throw new UsageError(`--confirm stands alone. Usage: merchants archive ${USAGE}`);
  if (process.stdin.isTTY)
    throw new UsageError('--confirm reads what is stored from a pipe: ssh vault cat 2024.ndjson.gz | …');
}

function readBefore(text: string | undefined): Month {
  if (text === undefined) throw missing('before');
  const latest = monthsAfter(monthAt(nowMs()), 1 - KEPT_MONTHS);
  if (isMonth(text) && text <= latest) return text;
  throw new UsageError(
    `--before must be a month such as 2025-01, and ${latest} at the latest; it is "${text}". What was created before its first day (UTC) is archived.`,
  );
}

function readTarget(text: string | undefined): string {
  if (text === undefined) throw missing('to');
  if (text.trim() !== '') return text;
  throw new UsageError('--to must name a folder, or be - for a pipe; it is empty.');
}

function missing(option: string): UsageError {
  return new UsageError(`--${option} is missing. Usage: merchants archive ${USAGE}`);
}

function presentAnswer({ archived, kept }: Archived): object {
  const answer = { archived: archived.map(presentArchived), kept: kept.map(presentKept) };
  const changed = archived.filter(({ left }) => left > 0);
  if (kept.length === 0 && changed.length === 0) return answer;
  const reasons = [
    ...kept.map(describeKept),
    ...changed.map(({ part, left }) => `${left} rows of ${part.month} changed meanwhile: archive them again`),
  ];
  throw new PartialFailure(`Not everything was archived: ${reasons.join('; ')}.`, answer);
}

function describeKept({ month, holds }: KeptMonth): string {
  return `${month} holds ${holds.map((one) => `${one.count} ${one.kind}`).join(', ')}`;
}

function presentArchived({ part, removed, left }: ArchivedMonth): object {
  return { month: part.month, part: part.part, removed, left, files: part.files };
}

function presentKept({ month, holds }: KeptMonth): object {
  return { month, holds };
}
