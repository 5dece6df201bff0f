import {
  type AccountDetails,
  createAccount,
  getAccount,
  listAccounts,
  updateAccount,
} from '../shared/accounts/accounts.js';
import { createApiKey, revokeApiKey } from '../shared/accounts/api-keys.js';
import { addFacilitatorKey, removeFacilitatorKey } from '../shared/accounts/facilitator-keys.js';
import {
  presentAccount,
  presentApiKey,
  presentFacilitatorKey,
  presentNewApiKey,
} from '../shared/accounts/present.js';
import { ACCOUNT_COMMANDS } from './account-commands.js';
import { ACCOUNTING_COMMANDS } from './accounting-commands.js';
import { ARCHIVE_COMMANDS } from './archive-commands.js';
import { AUDIT_COMMANDS } from './audit-commands.js';
import { type Command, type Input, subjectOf } from './command.js';
import { ENDPOINT_COMMANDS } from './endpoint-commands.js';
import { EVENT_COMMANDS } from './event-commands.js';
import { PAYMENT_COMMANDS } from './payment-commands.js';
import { parseKeyId, parseKeyName, parseMode, parsePublicKey } from './read-values.js';
import { RECONCILE_COMMANDS } from './reconcile-commands.js';
import { REPORT_COMMANDS } from './report-commands.js';
import { SECRET_COMMANDS } from './secret-commands.js';
import { SESSION_COMMANDS } from './session-commands.js';
import { SHOW_COMMAND } from './show-command.js';

const DETAILS = ['name', 'evm', 'solana', 'logo-url', 'brand-color', 'support-email'];
const DETAILS_USAGE = '[--evm 0x…] [--solana …] [--logo-url U] [--brand-color #rrggbb] [--support-email E]';
const DEFAULT_KEY_NAME = 'Checkout key';

export const COMMANDS: Readonly<Record<string, Command>> = {
  create: {
    usage: `--name N ${DETAILS_USAGE}`,
    options: DETAILS,
    required: ['name'],
    changes: 'at once',
    async run(db, input, audit) {
      const account = await createAccount(db, { ...NO_DETAILS, ...(await readChanges(input)) });
      const accountId = account.id;
      const live = await createApiKey(db, { accountId, livemode: true, name: DEFAULT_KEY_NAME });
      const test = await createApiKey(db, { accountId, livemode: false, name: DEFAULT_KEY_NAME });
      audit.about = accountId;
      audit.solanaWallet = account.solanaWallet;
      return { account: presentAccount(account), keys: { live: live.secret, test: test.secret } };
    },
  },
  update: {
    usage: `<acct> [--name N] ${DETAILS_USAGE}`,
    subject: 'account',
    options: DETAILS,
    changes: 'at once',
    async run(db, input, audit) {
      const account = await updateAccount(db, subjectOf(input, 'account'), await readChanges(input));
      audit.solanaWallet = account.solanaWallet;
      return presentAccount(account);
    },
  },
  list: {
    usage: '',
    async run(db) {
      return { accounts: (await listAccounts(db)).map(presentAccount) };
    },
  },
  'create-key': {
    usage: '<acct> --mode live|test [--name N] [--read-only]',
    subject: 'account',
    options: ['mode', 'name'],
    flags: ['read-only'],
    required: ['mode'],
    changes: 'at once',
    async run(db, input, audit) {
      const livemode = parseMode(input.mode) === 'live';
      const name = parseKeyName(input.name) ?? DEFAULT_KEY_NAME;
      const account = await getAccount(db, subjectOf(input, 'account'));
      const access = input['read-only'] === undefined ? 'full' : 'read';
      const { key, secret } = await createApiKey(db, { accountId: account.id, livemode, name, access });
      audit.about = key.id;
      return presentNewApiKey(key, secret, account);
    },
  },
  'revoke-key': {
    usage: '<key id>',
    subject: 'key',
    changes: 'at once',
    async run(db, input) {
      return presentApiKey(await revokeApiKey(db, subjectOf(input, 'key')));
    },
  },
  'add-facilitator-key': {
    usage: '<acct> --key-id K --public-key B64',
    subject: 'account',
    options: ['key-id', 'public-key'],
    required: ['key-id', 'public-key'],
    changes: 'at once',
    async run(db, input) {
      const accountId = subjectOf(input, 'account');
      const keyId = parseKeyId(subjectOf(input, 'key-id'));
      const publicKey = parsePublicKey(input['public-key']);
      return presentFacilitatorKey(await addFacilitatorKey(db, { accountId, keyId, publicKey }));
    },
  },
  'remove-facilitator-key': {
    usage: '<acct> --key-id K [--revoke-keys]',
    subject: 'account',
    options: ['key-id'],
    flags: ['revoke-keys'],
    required: ['key-id'],
    changes: 'at once',
    async run(db, input) {
      const named = { accountId: subjectOf(input, 'account'), keyId: subjectOf(input, 'key-id') };
      const revokeKeys = input['revoke-keys'] !== undefined;
      const revoked = await removeFacilitatorKey(db, named, { revokeKeys });
      return { ...presentFacilitatorKey(named), ...(revokeKeys && { revoked: revoked.map(presentApiKey) }) };
    },
  },
  ...ACCOUNT_COMMANDS,
  ...ACCOUNTING_COMMANDS,
  ...ARCHIVE_COMMANDS,
  ...AUDIT_COMMANDS,
  ...ENDPOINT_COMMANDS,
  ...EVENT_COMMANDS,
  ...PAYMENT_COMMANDS,
  ...RECONCILE_COMMANDS,
  ...REPORT_COMMANDS,
  ...SECRET_COMMANDS,
  ...SESSION_COMMANDS,
  ...SHOW_COMMAND,
};

export const USAGE = `Usage: npm run -s merchants -- <command> [--json] [--local]

${Object.entries(COMMANDS)
  .map(([name, { usage }]) => `  ${name} ${usage}`.trimEnd())
  .join('\n')}
`;

/** The libraries that read wallets' addresses are loaded by the commands that do. */
async function readChanges(input: Input): Promise<Partial<AccountDetails>> {
  const { accountChanges } = await import('./account-changes.js');
  return accountChanges(input);
}

const NO_DETAILS = {
  name: '',
  evmWallet: null,
  solanaWallet: null,
  logoUrl: null,
  brandColor: null,
  supportEmail: null,
};
