import { eraseSession } from '../shared/checkout-sessions/erase.js';
import { fieldsBy, PERSONAL_FIELDS } from '../shared/session-fields/fields.js';
import { type Command, subjectOf } from './command.js';

export const SESSION_COMMANDS: Readonly<Record<string, Command>> = {
  'erase-personal': {
    usage: '<cs id>',
    subject: 'session',
    changes: 'at once',
    async run(db, input) {
      const session = subjectOf(input, 'session');
      const { sessions, events, deliveryAnswers, keptAnswers } = await eraseSession(db, session);
      return {
        checkout_session: session,
        ...fieldsBy('name', PERSONAL_FIELDS, () => null),
        erased: { sessions, events, delivery_answers: deliveryAnswers, kept_answers: keptAnswers },
      };
    },
  },
};
