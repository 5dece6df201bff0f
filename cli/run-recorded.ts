import os from 'node:os';
import { type NewOperatorAction, recordOperatorAction } from '../shared/accounts/operator-actions.js';
import type { Knex } from '../shared/db/knex.js';
import type { Deed } from './command.js';
import type { CommandLine } from './parse-command-line.js';

/** Nothing is changed without a row that says who did it, and none tells of what was not done. */
export async function runRecorded(db: Knex, line: CommandLine): Promise<{ answer: object; deed: Deed }> {
  const { command, input } = line;
  const deed: Deed = {
    about: command.subject && input[command.subject],
    record: (within) => recordOperatorAction(within, actionOf(line, deed.about)),
  };
  if (command.changes !== 'at once') return { answer: await command.run(db, input, deed), deed };
  return await db.transaction(async (trx) => {
    const answer = await command.run(trx, input, deed);
    await deed.record(trx);
    return { answer, deed };
  });
}

function actionOf({ name, command, input }: CommandLine, about: string | undefined): NewOperatorAction {
  const given = Object.entries(input).flatMap(([option, value]) =>
    value === undefined || (option === command.subject && value === about) ? [] : [[option, value] as const],
  );
  return { who: `${userName()}@${os.hostname()}`, what: name, about, arguments: Object.fromEntries(given) };
}

/** A container's user may have a number only. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
