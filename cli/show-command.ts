import { searchByText } from '../shared/support/search.js';
import { type Shown, showById } from '../shared/support/show.js';
import { type Command, subjectOf } from './command.js';

/** Answers most questions of support: whatever the merchant, the buyer or a log line has named. */
export const SHOW_COMMAND: Readonly<Record<string, Command>> = {
  show: {
    usage: '<id>|<transaction>|<wallet>|<client_reference_id>|<email>',
    subject: 'subject',
    options: [],
    required: [],
    async run(db, input, audit, { config: { baseUrl } }) {
      const subject = subjectOf(input, 'subject');
      const shown = await showById({ db, baseUrl }, subject).catch(
        async (missing: unknown): Promise<Shown> => {
          // A merchant's own order id may begin like one of our ids.
          return { answer: await searchByText(db, subject, baseUrl).catch(() => Promise.reject(missing)) };
        },
      );
      if (shown === undefined) return await searchByText(db, subject, baseUrl);
      if (shown.account !== undefined) audit.solanaWallet = shown.account.solanaWallet;
      return shown.answer;
    },
  },
};
