import { createAccount, getAccount, listAccounts, updateAccount } from '../shared/accounts/accounts.js';
import { createApiKey, listApiKeys, revokeApiKey } from '../shared/accounts/api-keys.js';
import {
  addFacilitatorKey,
  listFacilitatorKeys,
  removeFacilitatorKey,
} from '../shared/accounts/facilitator-keys.js';
import type { FacilitatorKey } from '../shared/accounts/model.js';
import { presentAccount, presentApiKey, presentNewApiKey } from '../shared/accounts/present.js';
import { ARCHIVE_COMMANDS } from './archive-commands.js';
import { AUDIT_COMMANDS } from './audit-commands.js';
import { type Command, subjectOf } from './command.js';
import { EVENT_COMMANDS } from './event-commands.js';
import { PAYMENT_COMMANDS } from './payment-commands.js';
import { accountChanges, parseKeyName, parseMode, parsePublicKey } from './read-values.js';
import { RECONCILE_COMMANDS } from './reconcile-commands.js';
import { REPORT_COMMANDS } from './report-commands.js';
import { SECRET_COMMANDS } from './secret-commands.js';
import { SESSION_COMMANDS } from './session-commands.js';

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
      const account = await createAccount(db, { ...NO_DETAILS, ...accountChanges(input) });
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
    required: [],
    changes: 'at once',
    async run(db, input, audit) {
      const account = await updateAccount(db, subjectOf(input, 'account'), accountChanges(input));
      audit.solanaWallet = account.solanaWallet;
      return presentAccount(account);
    },
  },
  show: {
    usage: '<acct>',
    subject: 'account',
    options: [],
    required: [],
    async run(db, input, audit) {
      const account = await getAccount(db, subjectOf(input, 'account'));
      audit.solanaWallet = account.solanaWallet;
      const [keys, facilitatorKeys] = await Promise.all([
        listApiKeys(db, account.id),
        listFacilitatorKeys(db, account.id),
      ]);
      return {
        ...presentAccount(account),
        keys: keys.map(presentApiKey),
        facilitator_keys: facilitatorKeys.map(presentFacilitatorKey),
      };
    },
  },
  list: {
    usage: '',
    options: [],
    required: [],
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
    options: [],
    required: [],
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
      const publicKey = parsePublicKey(input['public-key']);
      return presentFacilitatorKey(
        await addFacilitatorKey(db, { accountId, keyId: subjectOf(input, 'key-id'), publicKey }),
      );
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
  ...ARCHIVE_COMMANDS,
  ...AUDIT_COMMANDS,
  ...EVENT_COMMANDS,
  ...PAYMENT_COMMANDS,
  ...RECONCILE_COMMANDS,
  ...REPORT_COMMANDS,
  ...SECRET_COMMANDS,
  ...SESSION_COMMANDS,
};

export const USAGE = `Usage: npm run -s merchants -- <command> [--json]

${Object.entries(COMMANDS)
  .map(([name, { usage }]) => `  ${name} ${usage}`.trimEnd())
  .join('\n')}
`;

const NO_DETAILS = {
  name: '',
  evmWallet: null,
  solanaWallet: null,
  logoUrl: null,
  brandColor: null,
  supportEmail: null,
};

function presentFacilitatorKey(key: Pick<FacilitatorKey, 'accountId' | 'keyId'>): object {
  return { object: 'facilitator_key', key_id: key.keyId, account: key.accountId };
}
