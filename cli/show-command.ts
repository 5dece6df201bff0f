import { searchByText } from '../shared/operator-reads/search.js';
import { showById } from '../shared/operator-reads/show.js';
import { type Command, subjectOf } from './command.js';
import { linkBaseUrl } from './link-base-url.js';

/** Answers most questions of support: whatever the merchant, the buyer or a log line has named. */
export const SHOW_COMMAND: Readonly<Record<string, Command>> = {
  show: {
    usage: '<id>|<transaction>|<wallet>|<client_reference_id>|<email>',
    subject: 'subject',
    async run(db, input, audit, commandContext) {
      const subject = subjectOf(input, 'subject');
      const context = { db, baseUrl: linkBaseUrl(commandContext) };
      const byId = await showById(context, subject).catch((missing: unknown) =>
        // A merchant's own order id may begin like one of our ids.
        searchByText(context, subject).catch(() => Promise.reject(missing)),
      );
      const shown = byId ?? (await searchByText(context, subject));
      if (shown.account !== undefined) audit.solanaWallet = shown.account.solanaWallet;
      return shown.answer;
    },
  },
};
