import type { Holder, Unit } from './unit.js';
import { UNITS_OF_REQUESTS } from './units-of-requests.js';

const ANSWERS_SPEC = 'test/unit/outgoing/answer-units.spec.ts';
const LARGE_ANSWERS_SPEC = 'test/unit/outgoing/large-answers.spec.ts';
const POST_SPEC = 'test/workers/webhook-sender.spec.ts';
const HEAD_SCAN = 'shared/outgoing/head-scan.ts';
const CHAIN_FETCH = 'shared/chains/rpc/endpoint-fetch.ts';
const POST = 'workers/webhook-delivery/post.ts';
const IMAGES = 'api/merchant-images/image-proxy.ts';

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
  MAX_FACILITATOR_ANSWER_BYTES: ofAnswer('bytes of a facilitator', 'shared/x402/facilitator/facilitator.ts'),
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
    enforcedIn: 'shared/chains/rpc/throttled-endpoint.ts',
    triedIn: 'test/api/link-balances.spec.ts',
  },
  MAX_WAITING_RPC_CALLS: {
    unit: 'calls of chain checks that wait for their turn',
    holder: 'endpoint',
    enforcedIn: 'shared/chains/rpc/endpoint-queue.ts',
    triedIn: 'test/unit/chains/endpoint-queue.spec.ts',
  },
  MAX_IMAGE_FETCHES: ofImages('image fetches', 'process'),
  MAX_IMAGE_FETCHES_OF_ACCOUNT: ofImages('image fetches', 'account'),
  MAX_IMAGE_FETCHES_OF_HOST: ofImages('image fetches', 'host'),
  MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST: ofImages('image fetches at one host', 'account'),
  MAX_IMAGES_WAITING: ofImages('image fetches that wait', 'process'),
  MAX_IMAGES_WAITING_OF_ACCOUNT: ofImages('image fetches that wait', 'account'),
  IMAGE_BYTES_IN_FLIGHT: ofImageBytes('process'),
  IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT: ofImageBytes('account'),
  MAX_URL_LOOKUPS: ofLookups('process'),
  MAX_URL_LOOKUPS_OF_ACCOUNT: ofLookups('account'),
  MAX_WEBHOOK_BYTES_IN_FLIGHT: {
    unit: 'bytes of webhooks on their way to receivers',
    holder: 'process',
    enforcedIn: 'workers/webhook-delivery/process-slots.ts',
    triedIn: 'test/flows/webhooks/webhooks-heavy.spec.ts',
  },
};

/** Rows that one request or one statement writes, and rows that wait. */
const ROWS: Readonly<Record<string, Unit>> = {
  MAX_PENDING_DELIVERIES: {
    unit: 'pending deliveries, before events are sent again',
    holder: 'account',
    enforcedIn: 'shared/webhooks/fan-out-size.ts',
    triedIn: 'test/flows/webhooks/fan-out.spec.ts',
  },
  MAX_EXPIRED_BATCH_DELIVERIES: {
    unit: 'deliveries of sessions that expire',
    holder: 'statement',
    enforcedIn: 'shared/settlement/expire-overdue.ts',
    triedIn: 'test/flows/webhooks/fan-out.spec.ts',
  },
  MAX_WRITTEN_BATCH_BYTES: {
    unit: 'bytes of writes that share a statement',
    holder: 'statement',
    enforcedIn: 'shared/db/batch-writes.ts',
    triedIn: 'test/db/batch-writes.spec.ts',
  },
  MAX_EXPIRED_BATCH_BYTES: {
    unit: 'bytes of events of sessions that expire',
    holder: 'statement',
    enforcedIn: 'shared/settlement/expire-overdue.ts',
    triedIn: 'test/workers/heavy-sessions.spec.ts',
  },
  MAX_REMOVED_BATCH_BYTES: {
    unit: 'bytes that are removed',
    holder: 'statement',
    enforcedIn: 'shared/upkeep/retention.ts',
    triedIn: 'test/workers/clean-up.spec.ts',
  },
  POOL_SHARES: ofPool('connections to Postgres', 'account', 'test/flows/postgres/connection-shares.spec.ts'),
  POOL_WAITING: ofPool('requests that wait for a connection to Postgres', 'process'),
  POOL_WAITING_OF_ACCOUNT: ofPool('requests that wait for a connection to Postgres', 'account'),
  MAX_ENDPOINTS_PER_MODE: {
    unit: 'webhook endpoints, and deliveries of one event',
    holder: 'account',
    enforcedIn: 'shared/webhooks/endpoints.ts',
    triedIn: 'test/api/webhook-endpoint-limits.spec.ts',
  },
};

/** Bounds that an operator sets, by their variables. */
const SETTINGS: Readonly<Record<string, Unit>> = {
  RATE_LIMIT_API_PER_SECOND: {
    unit: 'requests to the API, and deliveries that they write',
    holder: 'account',
    enforcedIn: 'api/limits/rate-limiters.ts',
    triedIn: 'test/api/rate-limits.spec.ts',
    property: 'apiRequestsPerSecond',
  },
  RATE_LIMIT_LINK_PER_MINUTE: {
    unit: 'requests to links',
    holder: 'address',
    enforcedIn: 'api/limits/rate-limiters.ts',
    triedIn: 'test/api/link-rate-limit.spec.ts',
    property: 'linkRequestsPerMinute',
  },
  FACILITATOR_TIMEOUT_MS: ofFacilitator('milliseconds of a facilitator', 'timeoutMs'),
  FACILITATOR_SETTLE_TIMEOUT_MS: ofFacilitator(
    'milliseconds of a facilitator for /settle',
    'settleTimeoutMs',
  ),
};

/**
 * The units that a peer can multiply, by the name of their bound in `bounds.ts` or of a variable. test/api/units.spec.ts goes
 * through the table, and docs/weight.md says what happens beyond each bound.
 */
export const UNITS: Readonly<Record<string, Unit>> = {
  ...UNITS_OF_REQUESTS,
  ...ANSWERS,
  ...CALLS,
  ...ROWS,
  ...SETTINGS,
};

function ofAnswer(unit: string, enforcedIn: string, triedIn = ANSWERS_SPEC): Unit {
  return { unit, holder: 'answer', enforcedIn, triedIn };
}

function ofImages(unit: string, holder: Holder): Unit {
  const triedIn = 'test/unit/merchant-images/fetch-slots.spec.ts';
  return { unit, holder, enforcedIn: 'api/merchant-images/fetch-slots.ts', triedIn };
}

function ofImageBytes(holder: Holder): Unit {
  const triedIn = 'test/unit/merchant-images/image-bytes.spec.ts';
  return { unit: 'bytes of images on their way to the service', holder, enforcedIn: IMAGES, triedIn };
}

function ofLookups(holder: Holder): Unit {
  const triedIn = 'test/unit/limits/url-lookups.spec.ts';
  const unit = "look-ups of webhook endpoints' names";
  return { unit, holder, enforcedIn: 'api/v1/webhook-endpoints/url-lookups.ts', triedIn };
}

function ofPool(unit: string, holder: Holder, triedIn = 'test/unit/db/connection-shares.spec.ts'): Unit {
  return { unit, holder, enforcedIn: 'shared/db/connection-shares.ts', triedIn };
}

function ofFacilitator(unit: string, property: string): Unit {
  const triedIn = 'test/unit/x402/facilitator-client.spec.ts';
  return { unit, holder: 'answer', enforcedIn: 'shared/x402/facilitator/facilitator.ts', triedIn, property };
}
