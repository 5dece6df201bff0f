import os from 'node:os';
import { type NewOperatorAction, recordOperatorAction } from '../shared/accounts/operator-actions.js';
import { isUnanswered } from '../shared/db/after-commit.js';
import type { Knex } from '../shared/db/knex.js';
import { isRefusal } from '../shared/db/postgres-errors.js';
import type { AuditEntry, CommandContext } from './command.js';
import type { CommandLine } from './parse-command-line.js';

/** The command, or its last part, may have been carried out. */
export class UnansweredCommit extends Error {
  override readonly name = 'UnansweredCommit';
}

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
  if (command.changes !== 'at once') {
    const answer = await command.run(db, input, audit, context).catch((error: unknown) => {
      throw isUnanswered(error) ? unansweredPart(error) : error;
    });
    return { answer, audit };
  }
  let isCommitting = false;
  try {
    return await db.transaction(async (trx) => {
      const answer = await command.run(trx, input, audit, context);
      await audit.record(trx);
      isCommitting = true;
      return { answer, audit };
    });
  } catch (error) {
    if (!isCommitting || isRefusal(error)) throw error;
    throw unanswered(audit.about, error);
  }
}

/** Only `operator_actions` can tell whether the command was carried out. */
function unanswered(about: string | undefined, cause: unknown): UnansweredCommit {
  const reason = reasonOf(cause);
  const audit = about === undefined ? 'audit' : `audit --about ${about}`;
  return new UnansweredCommit(
    `Postgres did not answer the COMMIT of this command (${reason}), so it may have been carried out. Before you run it again, look at "${audit}": the command is listed if it was.`,
    { cause },
  );
}

/** Each part commits by itself, and the command finds in Postgres which are done. */
function unansweredPart(cause: unknown): UnansweredCommit {
  return new UnansweredCommit(
    `Postgres did not answer a COMMIT of this command (${reasonOf(cause)}), so its last part may have been carried out. Run it again: it does what is left.`,
    { cause },
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
