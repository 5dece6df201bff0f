import os from 'node:os';
import { type NewOperatorAction, recordOperatorAction } from '../shared/accounts/operator-actions.js';
import { isUnanswered } from '../shared/db/after-commit.js';
import type { Knex } from '../shared/db/knex.js';
import { isRefusal, messageOf } from '../shared/db/postgres-errors.js';
import type { AuditEntry, CommandContext } from './command.js';
import type { CommandLine } from './parse-command-line.js';

/** A COMMIT got no answer: the command, or its last part, may have been carried out. */
export class UnansweredCommit extends Error {
  override readonly name = 'UnansweredCommit';
}

export const PARTS_STAY = 'What the command has changed until now stays, and "audit" lists the command.';

/**
 * Runs a command; a command that changes something commits together with its audit row, or after it when `piecemeal`.
 * `onChange` is called before the first COMMIT, with a function that tells an operator whose command ends without its answer.
 */
export async function runAudited(
  db: Knex,
  line: CommandLine,
  context: CommandContext,
  onChange: (sentence: () => string) => void,
): Promise<{ answer: object; audit: AuditEntry }> {
  const { command, input } = line;
  const audit: AuditEntry = {
    about: command.subject && input[command.subject],
    async record(trx) {
      if (command.changes === 'piecemeal') onChange(() => PARTS_STAY);
      return await recordOperatorAction(trx, actionOf(line, audit.about));
    },
    tellIfEnded: onChange,
  };
  if (command.changes !== 'at once') {
    const answer = await command.run(db, input, audit, context).catch((error: unknown) => {
      throw isUnanswered(error) ? unansweredPart(error) : error;
    });
    return { answer, audit };
  }
  let row: number | undefined;
  try {
    return await db.transaction(async (trx) => {
      const answer = await command.run(trx, input, audit, context);
      const id = await audit.record(trx);
      row = id;
      onChange(() => `The command may have been carried out. ${adviceToLook(audit.about, id)}`);
      return { answer, audit };
    });
  } catch (error) {
    if (row === undefined || isRefusal(error)) throw error;
    throw unanswered(adviceToLook(audit.about, row), error);
  }
}

/** Only `operator_actions` can tell whether the command was carried out. */
function unanswered(advice: string, cause: unknown): UnansweredCommit {
  return new UnansweredCommit(
    `Postgres did not answer the COMMIT of this command (${messageOf(cause)}), so it may have been carried out. ${advice}`,
    { cause },
  );
}

/** Names the row's id, since the list may have an earlier run of the same command. */
function adviceToLook(about: string | undefined, row: number): string {
  const audit = about === undefined ? 'audit' : `audit --about ${about}`;
  return `Before you run it again, look at "${audit}": the command is listed, with the id ${row}, if it was.`;
}

/** Each part commits by itself, and the command finds in Postgres which are done. */
function unansweredPart(cause: unknown): UnansweredCommit {
  return new UnansweredCommit(
    `Postgres did not answer a COMMIT of this command (${messageOf(cause)}), so its last part may have been carried out. Run it again: it does what is left.`,
    { cause },
  );
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
