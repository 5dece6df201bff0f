import { setEndpointStatus } from '../shared/webhooks/endpoints.js';
import { listFailingEndpoints } from '../shared/webhooks/failing-endpoints.js';
import { presentOperatorEndpoint } from '../shared/webhooks/present.js';
import type { EndpointStatus } from '../shared/webhooks/states.js';
import { type Command, subjectOf } from './command.js';

const MOST_LISTED = 1000;

export const ENDPOINT_COMMANDS: Readonly<Record<string, Command>> = {
  endpoints: {
    usage: '--failing',
    flags: ['failing'],
    required: ['failing'],
    async run(db) {
      const failing = await listFailingEndpoints(db, MOST_LISTED);
      return {
        endpoints: failing.map(({ endpoint, lastTry }) => presentOperatorEndpoint(endpoint, lastTry)),
      };
    },
  },
  'disable-endpoint': setStatus('disabled'),
  'enable-endpoint': setStatus('enabled'),
};

function setStatus(status: EndpointStatus): Command {
  return {
    usage: '<we_…>',
    subject: 'endpoint',
    changes: 'at once',
    run: async (db, input) =>
      presentOperatorEndpoint(await setEndpointStatus(db, subjectOf(input, 'endpoint'), status)),
  };
}
