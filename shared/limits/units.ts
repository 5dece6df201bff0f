type Holder = 'process' | 'address' | 'connection' | 'request' | 'account';

interface Unit {
  /** The thing that is counted, in the plural. */
  unit: string;
  holder: Holder;
  /** The file that holds it to the bound. */
  enforcedIn: string;
  /** The spec that tries what is within the bound, and one step beyond. */
  triedIn: string;
}

const UNITS_SPEC = 'test/api/units.spec.ts';
const CONNECTIONS = 'api/process/bound-connections.ts';
const RATE_LIMITERS = 'api/limits/rate-limiters.ts';
const IMAGES = 'api/merchant-images/image-proxy.ts';

/**
 * The units that a peer can multiply, by the name of their bound in `bounds.ts`. test/api/units.spec.ts goes through the
 * table, and docs/weight.md says what happens beyond each bound.
 */
export const UNITS: Readonly<Record<string, Unit>> = {
  MAX_CONNECTIONS: { unit: 'connections', holder: 'process', enforcedIn: CONNECTIONS, triedIn: UNITS_SPEC },
  MAX_CONNECTIONS_OF_ADDRESS: {
    unit: 'connections',
    holder: 'address',
    enforcedIn: CONNECTIONS,
    triedIn: UNITS_SPEC,
  },
  MAX_UNANSWERED_OF_CONNECTION: {
    unit: 'requests without an answer',
    holder: 'connection',
    enforcedIn: 'api/process/connection.ts',
    triedIn: UNITS_SPEC,
  },
  MAX_REQUEST_HEADERS: {
    unit: 'headers',
    holder: 'request',
    enforcedIn: 'api/process/refuse-request.ts',
    triedIn: UNITS_SPEC,
  },
  MAX_HEADER_BYTES: {
    unit: 'bytes of the request line and the headers',
    holder: 'request',
    enforcedIn: 'api/process/http-server.ts',
    triedIn: UNITS_SPEC,
  },
  HELD_INPUT: {
    unit: 'bytes of half-sent requests',
    holder: 'process',
    enforcedIn: 'api/process/held-input.ts',
    triedIn: UNITS_SPEC,
  },
  READ_OUT: {
    unit: 'bytes and time after the last answer',
    holder: 'connection',
    enforcedIn: 'api/process/connection.ts',
    triedIn: UNITS_SPEC,
  },
  UNREAD_ANSWERS: {
    unit: 'bytes of answers that are not read',
    holder: 'account',
    enforcedIn: 'api/http/unread-answers.ts',
    triedIn: 'test/unit/unread-answers.spec.ts',
  },
  MAX_BODY_BYTES: {
    unit: 'bytes of a body',
    holder: 'request',
    enforcedIn: 'api/middleware/read-body.ts',
    triedIn: UNITS_SPEC,
  },
  MAX_BODY_VALUES: {
    unit: 'values of a body',
    holder: 'request',
    enforcedIn: 'api/input/weigh.ts',
    triedIn: UNITS_SPEC,
  },
  MAX_BODY_DEPTH: {
    unit: 'levels of a body',
    holder: 'request',
    enforcedIn: 'api/input/weigh.ts',
    triedIn: UNITS_SPEC,
  },
  MAX_MESSAGE_VALUES: {
    unit: 'values of a message at /mcp',
    holder: 'request',
    enforcedIn: 'api/mcp/take-arguments.ts',
    triedIn: 'test/api/mcp-messages.spec.ts',
  },
  LARGE_BODIES_BYTES: {
    unit: 'bytes of large bodies in flight',
    holder: 'process',
    enforcedIn: 'api/process/open-deps.ts',
    triedIn: 'test/api/large-bodies.spec.ts',
  },
  LARGE_BODIES_BYTES_PER_ACCOUNT: {
    unit: 'bytes of large bodies in flight',
    holder: 'account',
    enforcedIn: 'api/process/open-deps.ts',
    triedIn: 'test/api/large-bodies.spec.ts',
  },
  HEAVY_ANSWERS: {
    unit: 'large answers, and their parts in memory',
    holder: 'account',
    enforcedIn: 'api/limits/heavy-answers.ts',
    triedIn: 'test/unit/limits/heavy-answers.spec.ts',
  },
  LONG_ANSWER_BYTES_SENT_TO_ADDRESS: {
    unit: 'bytes of long answers of links while they are sent',
    holder: 'address',
    enforcedIn: 'api/process/open-deps.ts',
    triedIn: 'test/api/link-weight.spec.ts',
  },
  TRANSACTIONS_SHARE_OF_ADDRESS: {
    unit: 'requests for transactions',
    holder: 'address',
    enforcedIn: RATE_LIMITERS,
    triedIn: 'test/api/address-limits.spec.ts',
  },
  BALANCES_SHARE_OF_ADDRESS: {
    unit: 'requests for balances',
    holder: 'address',
    enforcedIn: RATE_LIMITERS,
    triedIn: 'test/api/long-parameters.spec.ts',
  },
  MAX_COUNTED_IN_MEMORY: {
    unit: 'addresses and accounts that are counted without a store',
    holder: 'process',
    enforcedIn: 'api/limits/memory-counters.ts',
    triedIn: 'test/unit/limits/memory-counters.spec.ts',
  },
  IMAGE_BYTES_SENT_TO_ADDRESS: {
    unit: 'bytes of images while they are sent',
    holder: 'address',
    enforcedIn: IMAGES,
    triedIn: 'test/api/image-weight.spec.ts',
  },
  MAX_ENDPOINTS_PER_MODE: {
    unit: 'webhook endpoints',
    holder: 'account',
    enforcedIn: 'shared/webhooks/endpoints.ts',
    triedIn: 'test/api/webhook-endpoint-limits.spec.ts',
  },
  MAX_HOST_LENGTH: {
    unit: "characters of a URL's host",
    holder: 'request',
    enforcedIn: 'shared/values/parse-url.ts',
    triedIn: 'test/unit/parse-url.spec.ts',
  },
};
