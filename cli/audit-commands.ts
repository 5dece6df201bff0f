import { listOperatorActions } from '../shared/accounts/operator-actions.js';
import { presentOperatorAction } from '../shared/accounts/present.js';
import type { Command } from './command.js';
import { UsageError } from './parse-command-line.js';

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 10_000;

/** Lists the actions of operators on the command line and on the dashboard. */
export const AUDIT_COMMANDS: Readonly<Record<string, Command>> = {
  audit: {
    usage: '[--about <id>] [--limit N]',
    options: ['about', 'limit'],
    async run(db, input) {
      const actions = await listOperatorActions(db, readLimit(input.limit), input.about);
      return { actions: actions.map(presentOperatorAction) };
    },
  },
};

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= HIGHEST_LIMIT) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${HIGHEST_LIMIT}; it is "${text}".`);
}
