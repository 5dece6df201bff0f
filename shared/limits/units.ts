type Holder =
  | 'process'
  | 'address'
  | 'connection'
  | 'request'
  | 'account'
  | 'answer'
  | 'endpoint'
  | 'host'
  | 'statement';

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
const ANSWERS_SPEC = 'test/unit/outgoing/answer-units.spec.ts';
const LARGE_ANSWERS_SPEC = 'test/unit/outgoing/large-answers.spec.ts';
const POST_SPEC = 'test/workers/webhook-sender.spec.ts';
const HEAD_SCAN = 'shared/outgoing/head-scan.ts';
const CHAIN_FETCH = 'shared/chains/endpoint-fetch.ts';
const POST = 'workers/webhook-delivery/post.ts';
const CONNECTIONS = 'api/process/bound-connections.ts';
const RATE_LIMITERS = 'api/limits/rate-limiters.ts';
const IMAGES = 'api/merchant-images/image-proxy.ts';

/** Requests to web, and the answers to them. */
const REQUESTS: Readonly<Record<string, Unit>> = {
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
  MAX_HOST_LENGTH: {
    unit: "characters of a URL's host",
    holder: 'request',
    enforcedIn: 'shared/values/parse-url.ts',
    triedIn: 'test/unit/parse-url.spec.ts',
  },
};

/** Answers of other servers: receivers, image hosts, facilitators and chains' endpoints. */
const ANSWERS: Readonly<Record<string, Unit>> = {
  MAX_ANSWER_HEAD_BYTES: ofAnswer('bytes of the headers, with those of interim answers', HEAD_SCAN),
  MAX_ANSWER_HEAD_LINES: ofAnswer('lines of the headers, with those of interim answers', HEAD_SCAN),
  MAX_INTERIM_ANSWERS: ofAnswer('interim answers (1xx)', HEAD_SCAN),
  MAX_ANSWER_PIECES: ofAnswer('pieces', CHAIN_FETCH),
  MAX_RECEIVER_ANSWER_PIECES: ofAnswer('pieces of a receiver', POST),
  MAX_RECEIVER_ANSWER_BYTES: ofAnswer('bytes of a receiver', 'workers/webhook-delivery/post-once.ts'),
  RECEIVER_HEADERS_WITHIN_MS: ofAnswer('milliseconds of a receiver for its headers', POST, POST_SPEC),
  RECEIVER_BODY_WITHIN_MS: ofAnswer(
    'milliseconds of a receiver for its body',
    'workers/webhook-delivery/post-once.ts',
    POST_SPEC,
  ),
  MAX_FACILITATOR_ANSWER_BYTES: ofAnswer('bytes of a facilitator', 'shared/x402/facilitator.ts'),
  MAX_CHAIN_ANSWER_BYTES: ofAnswer("bytes of a chain's endpoint", CHAIN_FETCH, LARGE_ANSWERS_SPEC),
  MAX_CHAIN_ANSWER_VALUES: ofAnswer("values of a chain's endpoint", CHAIN_FETCH, LARGE_ANSWERS_SPEC),
  MAX_IMAGE_BYTES: ofAnswer(
    'bytes of an image',
    'api/merchant-images/read-image-body.ts',
    'test/unit/merchant-images/read-image-body.spec.ts',
  ),
  IMAGE_WITHIN_MS: ofAnswer(
    'milliseconds of an image',
    'api/merchant-images/download-image.ts',
    'test/unit/outgoing/hostile-servers.spec.ts',
  ),
};

/** Calls to other servers that outsiders cause. */
const CALLS: Readonly<Record<string, Unit>> = {
  CHAIN_ANSWER_BYTES_IN_FLIGHT: {
    unit: "bytes of chains' long answers that are being read",
    holder: 'process',
    enforcedIn: CHAIN_FETCH,
    triedIn: LARGE_ANSWERS_SPEC,
  },
  CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT: {
    unit: "bytes of a chain's long answers that are being read",
    holder: 'endpoint',
    enforcedIn: CHAIN_FETCH,
    triedIn: LARGE_ANSWERS_SPEC,
  },
  MAX_PAGE_RPC_CALLS: {
    unit: "calls of buyers' pages to a chain",
    holder: 'endpoint',
    enforcedIn: 'shared/chains/throttled-endpoint.ts',
    triedIn: 'test/api/link-balances.spec.ts',
  },
  MAX_WAITING_RPC_CALLS: {
    unit: 'calls of chain checks that wait for their turn',
    holder: 'endpoint',
    enforcedIn: 'shared/chains/endpoint-queue.ts',
    triedIn: 'test/unit/chains/endpoint-queue.spec.ts',
  },
  MAX_IMAGE_FETCHES: ofImages('image fetches', 'process'),
  MAX_IMAGE_FETCHES_OF_ACCOUNT: ofImages('image fetches', 'account'),
  MAX_IMAGE_FETCHES_OF_HOST: ofImages('image fetches', 'host'),
  MAX_IMAGES_WAITING_OF_ACCOUNT: ofImages('image fetches that wait', 'account'),
  IMAGE_BYTES_IN_FLIGHT: {
    unit: 'bytes of images on their way to the service',
    holder: 'process',
    enforcedIn: IMAGES,
    triedIn: 'test/api/image-weight.spec.ts',
  },
  MAX_WEBHOOK_BYTES_IN_FLIGHT: {
    unit: 'bytes of webhooks on their way to receivers',
    holder: 'process',
    enforcedIn: 'workers/webhook-delivery/slots.ts',
    triedIn: 'test/flows/webhooks-heavy.spec.ts',
  },
};

/** Rows that one request or one statement writes, and rows that wait. */
const ROWS: Readonly<Record<string, Unit>> = {
  MAX_PENDING_DELIVERIES: {
    unit: 'pending deliveries, before events are sent again',
    holder: 'account',
    enforcedIn: 'shared/webhooks/fan-out-size.ts',
    triedIn: 'test/flows/fan-out.spec.ts',
  },
  MAX_EXPIRED_BATCH_DELIVERIES: {
    unit: 'deliveries of sessions that expire',
    holder: 'statement',
    enforcedIn: 'shared/settlement/expire-due.ts',
    triedIn: 'test/flows/fan-out.spec.ts',
  },
  MAX_ENDPOINTS_PER_MODE: {
    unit: 'webhook endpoints',
    holder: 'account',
    enforcedIn: 'shared/webhooks/endpoints.ts',
    triedIn: 'test/api/webhook-endpoint-limits.spec.ts',
  },
};

/**
 * The units that a peer can multiply, by the name of their bound in `bounds.ts`. test/api/units.spec.ts goes through the
 * table, and docs/weight.md says what happens beyond each bound.
 */
export const UNITS: Readonly<Record<string, Unit>> = { ...REQUESTS, ...ANSWERS, ...CALLS, ...ROWS };

function ofAnswer(unit: string, enforcedIn: string, triedIn = ANSWERS_SPEC): Unit {
  return { unit, holder: 'answer', enforcedIn, triedIn };
}

function ofImages(unit: string, holder: Holder): Unit {
  const triedIn = 'test/unit/merchant-images/fetch-slots.spec.ts';
  return { unit, holder, enforcedIn: 'api/merchant-images/fetch-slots.ts', triedIn };
}
