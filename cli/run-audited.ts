import os from 'node:os';
import { type NewOperatorAction, recordOperatorAction } from '../shared/accounts/operator-actions.js';
import type { Knex } from '../shared/db/knex.js';
import type { AuditEntry, CommandContext } from './command.js';
import type { CommandLine } from './parse-command-line.js';

/** Runs a command; a command that changes something commits together with its audit row, or after it when `piecemeal`. */
export async function runAudited(
  db: Knex,
  line: CommandLine,
  context: CommandContext,
): Promise<{ answer: object; audit: AuditEntry }> {
  const { command, input } = line;
  const audit: AuditEntry = {
    about: command.subject && input[command.subject],
    record: (trx) => recordOperatorAction(trx, actionOf(line, audit.about)),
  };
  if (command.changes !== 'at once') return { answer: await command.run(db, input, audit, context), audit };
  return await db.transaction(async (trx) => {
    const answer = await command.run(trx, input, audit, context);
    await audit.record(trx);
    return { answer, audit };
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
