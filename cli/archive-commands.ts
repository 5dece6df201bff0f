import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ArchivedMonth, archiveMonths, type KeptMonth } from '../shared/archive/archive.js';
import { pipePart } from '../shared/archive/pipe-part.js';
import { nowMs } from '../shared/process/clock.js';
import { isMonth, type Month, monthAt, monthsAfter } from '../shared/values/months.js';
import { type Command, PartialFailure } from './command.js';
import { UsageError } from './parse-command-line.js';

const PIPE = '-';
/** The current and the previous month are never archived: clean-up still changes their rows, and buyers still read them. */
const KEPT_MONTHS = 2;

export const ARCHIVE_COMMANDS: Readonly<Record<string, Command>> = {
  archive: {
    usage: '--before 2025-01 --to <folder>|-',
    options: ['before', 'to'],
    required: ['before', 'to'],
    // A month takes minutes, too long for one transaction.
    changes: 'piecemeal',
    writesDataToStdout: ({ to }) => to === PIPE,
    async run(db, input, audit) {
      const before = readBefore(input.before);
      const to = input.to ?? PIPE;
      await audit.record(db);
      const folder = to === PIPE ? await mkdtemp(path.join(os.tmpdir(), 'checkout-archive-')) : to;
      try {
        const { archived, kept } = await archiveMonths(db, {
          before,
          folder,
          onWritten: async (part) => {
            if (to === PIPE) await pipePart(folder, part, process.stdout);
          },
        });
        return presentAnswer(archived, kept);
      } finally {
        if (to === PIPE) await rm(folder, { recursive: true });
      }
    },
  },
};

function readBefore(text: string | undefined): Month {
  const latest = monthsAfter(monthAt(nowMs()), 1 - KEPT_MONTHS);
  if (text !== undefined && isMonth(text) && text <= latest) return text;
  throw new UsageError(
    `--before must be a month such as 2025-01, and ${latest} at the latest; it is "${text}". What was created before its first day (UTC) is archived.`,
  );
}

function presentAnswer(archived: readonly ArchivedMonth[], kept: readonly KeptMonth[]): object {
  const answer = { archived: archived.map(presentArchived), kept: kept.map(presentKept) };
  const changed = archived.filter(({ left }) => left > 0);
  if (kept.length === 0 && changed.length === 0) return answer;
  const reasons = [
    ...kept.map(
      ({ month, holds }) => `${month} holds ${holds.map((one) => `${one.count} ${one.kind}`).join(', ')}`,
    ),
    ...changed.map(
      ({ part, left }) => `${left} rows of ${part.month} changed meanwhile: run the command again`,
    ),
  ];
  throw new PartialFailure(`Not everything was archived: ${reasons.join('; ')}.`, answer);
}

function presentArchived({ part, removed, left }: ArchivedMonth): object {
  return { month: part.month, part: part.part, removed, left, files: part.files };
}

function presentKept({ month, holds }: KeptMonth): object {
  return { month, holds };
}
