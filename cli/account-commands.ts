import { getAccount } from '../shared/accounts/accounts.js';
import { disableAccount, enableAccount, revokeAccountKeys } from '../shared/accounts/disable.js';
import { presentAccount, presentApiKey } from '../shared/accounts/present.js';
import { type Command, subjectOf } from './command.js';
import { parseMode } from './read-values.js';

/** Commands for an account that must stop, and for keys that have leaked. */
export const ACCOUNT_COMMANDS: Readonly<Record<string, Command>> = {
  'disable-account': changeAccount(disableAccount),
  'enable-account': changeAccount(enableAccount),
  'revoke-keys': {
    usage: '<acct> [--mode live|test]',
    subject: 'account',
    options: ['mode'],
    changes: 'at once',
    async run(db, input) {
      const livemode = input.mode === undefined ? undefined : parseMode(input.mode) === 'live';
      const account = await getAccount(db, subjectOf(input, 'account'));
      const revoked = await revokeAccountKeys(db, account.id, livemode);
      return { account: account.id, revoked: revoked.map(presentApiKey) };
    },
  },
};

function changeAccount(change: typeof disableAccount): Command {
  return {
    usage: '<acct>',
    subject: 'account',
    changes: 'at once',
    run: async (db, input) => presentAccount(await change(db, subjectOf(input, 'account'))),
  };
}
