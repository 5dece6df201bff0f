import { resendEvent } from '../shared/webhooks/resend.js';
import { type Command, subjectOf } from './command.js';

export const EVENT_COMMANDS: Readonly<Record<string, Command>> = {
  'resend-event': {
    usage: '<evt id> [--endpoint we_…]',
    subject: 'event',
    options: ['endpoint'],
    required: [],
    changes: 'at once',
    async run(db, input) {
      const event = subjectOf(input, 'event');
      const resent = await resendEvent(db, event, input.endpoint);
      return {
        event,
        deliveries: resent.map(({ deliveryId, endpointId }) => ({ id: deliveryId, endpoint: endpointId })),
      };
    },
  },
};
