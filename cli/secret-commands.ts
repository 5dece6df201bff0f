import { ConfigError, usesDevelopmentKey } from '../shared/config/config.js';
import { createSecretBox } from '../shared/secrets/secrets.js';
import { resealSecrets } from '../shared/webhooks/secrets.js';
import { type Command, PartialFailure } from './command.js';

/** The command for the rotation of ENCRYPTION_KEY. */
export const SECRET_COMMANDS: Readonly<Record<string, Command>> = {
  'reseal-secrets': {
    usage: '',
    // One transaction for all secrets would hold its locks for too long.
    changes: 'piecemeal',
    async run(db, _input, audit, { config }) {
      if (usesDevelopmentKey(config)) {
        throw new ConfigError(
          'ENCRYPTION_KEY is missing: set it to the value of web and workers, with the new key first.',
        );
      }
      await audit.record(db);
      const { resealed, current, unreadable } = await resealSecrets(
        db,
        createSecretBox(config.encryptionKeys),
      );
      const answer = {
        resealed,
        already_current: current,
        unreadable: unreadable.length,
        unreadable_endpoints: unreadable.map((id) => ({ id })),
      };
      if (unreadable.length === 0) return answer;
      throw new PartialFailure(
        `ENCRYPTION_KEY lacks the key of ${unreadable.length} webhook secrets: append that key, after a comma.`,
        answer,
      );
    },
  },
};
