import { ConfigError, isSet, readConfig } from '../shared/config/config.js';
import { createSecretBox } from '../shared/secrets/secrets.js';
import { resealSecrets } from '../shared/webhooks/reseal-secrets.js';
import { type Command, DoneInPart } from './command.js';

/** What an operator does about stored secrets while a key is rotated. */
export const SECRET_COMMANDS: Readonly<Record<string, Command>> = {
  'reseal-secrets': {
    usage: '',
    options: [],
    required: [],
    // Nobody is kept waiting for all of them.
    changes: 'piecemeal',
    async run(db, _input, deed) {
      if (!isSet('ENCRYPTION_KEY')) {
        throw new ConfigError(
          'ENCRYPTION_KEY is missing: set it as web and workers have it, the new key first.',
        );
      }
      const { encryptionKeys } = readConfig('cli', { DATABASE_URL: 'postgres://unused' });
      await deed.record(db);
      const { resealed, current, unreadable } = await resealSecrets(db, createSecretBox(encryptionKeys));
      const answer = {
        resealed,
        already_current: current,
        unreadable: unreadable.length,
        unreadable_endpoints: unreadable.map((id) => ({ id })),
      };
      if (unreadable.length === 0) return answer;
      throw new DoneInPart(
        `ENCRYPTION_KEY lacks the key of ${unreadable.length} webhook secrets: put it back, behind a comma.`,
        answer,
      );
    },
  },
};
