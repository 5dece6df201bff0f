import { getAccount } from '../shared/accounts/accounts.js';
import { disableAccount, enableAccount, revokeAccountKeys } from '../shared/accounts/disable.js';
import { presentAccount, presentApiKey } from '../shared/accounts/present.js';
import { type Command, subjectOf } from './command.js';
import { parseMode } from './read-values.js';

/** For an account that must stop, and for keys that have leaked. */
export const ACCOUNT_COMMANDS: Readonly<Record<string, Command>> = {
  'disable-account': {
    usage: '<acct>',
    subject: 'account',
    options: [],
    required: [],
    changes: 'at once',
    run: async (db, input) => presentAccount(await disableAccount(db, subjectOf(input, 'account'))),
  },
  'enable-account': {
    usage: '<acct>',
    subject: 'account',
    options: [],
    required: [],
    changes: 'at once',
    run: async (db, input) => presentAccount(await enableAccount(db, subjectOf(input, 'account'))),
  },
  'revoke-keys': {
    usage: '<acct> [--mode live|test]',
    subject: 'account',
    options: ['mode'],
    required: [],
    changes: 'at once',
    async run(db, input) {
      const livemode = input.mode === undefined ? undefined : parseMode(input.mode) === 'live';
      const account = await getAccount(db, subjectOf(input, 'account'));
      const revoked = await revokeAccountKeys(db, account.id, livemode);
      return { account: account.id, revoked: revoked.map(presentApiKey) };
    },
  },
};
