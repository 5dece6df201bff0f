import type { Holder, Unit } from './unit.js';

const UNITS_SPEC = 'test/api/units.spec.ts';
const CONNECTIONS_SPEC = 'test/api/connections.spec.ts';
const CONNECTIONS = 'api/process/bound-connections.ts';
const RATE_LIMITERS = 'api/limits/rate-limiters.ts';
const IMAGES = 'api/merchant-images/image-proxy.ts';

/** Requests to web, and the answers to them. */
export const UNITS_OF_REQUESTS: Readonly<Record<string, Unit>> = {
  MAX_CONNECTIONS: {
    unit: 'connections',
    holder: 'process',
    enforcedIn: CONNECTIONS,
    triedIn: CONNECTIONS_SPEC,
  },
  MAX_CONNECTIONS_OF_ADDRESS: {
    unit: 'connections',
    holder: 'address',
    enforcedIn: CONNECTIONS,
    triedIn: CONNECTIONS_SPEC,
  },
  MAX_UNANSWERED_OF_CONNECTION: {
    unit: 'requests without an answer',
    holder: 'connection',
    enforcedIn: 'api/process/connection.ts',
    triedIn: CONNECTIONS_SPEC,
  },
  MAX_REQUEST_HEADERS: {
    unit: 'headers',
    holder: 'request',
    enforcedIn: 'api/process/refuse-request.ts',
    triedIn: CONNECTIONS_SPEC,
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
    triedIn: CONNECTIONS_SPEC,
  },
  UNREAD_ANSWERS: {
    unit: 'bytes of answers that are not read',
    holder: 'account',
    enforcedIn: 'api/http/unread-answers.ts',
    triedIn: 'test/unit/http/unread-answers.spec.ts',
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
    triedIn: 'test/api/address-limits.spec.ts',
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
    triedIn: 'test/unit/values/parse-url.spec.ts',
  },
  LARGE_BODY_IN_FLIGHT_MS: {
    unit: 'milliseconds of a large body and its answer',
    holder: 'request',
    enforcedIn: 'api/middleware/read-body.ts',
    triedIn: 'test/api/large-bodies.spec.ts',
  },
  PIECE_TAKEN_WITHIN_MS: {
    unit: 'milliseconds of a client for a piece of a large answer',
    holder: 'answer',
    enforcedIn: 'api/http/send-json.ts',
    triedIn: 'test/unit/http/send-pieces.spec.ts',
  },
  SENT_WITHIN_MS: {
    unit: 'milliseconds of a client for an image or a long answer of a link',
    holder: 'answer',
    enforcedIn: 'api/http/release-when-sent.ts',
    triedIn: 'test/unit/http/while-sent.spec.ts',
  },
  TOOL_ANSWER_BYTES: {
    unit: "bytes of a tool's answer",
    holder: 'answer',
    enforcedIn: 'api/mcp/collect-text.ts',
    triedIn: 'test/unit/mcp/collect-text.spec.ts',
  },
  TABLE_PART_ROWS: {
    unit: 'rows of a table (CSV) that are read at once',
    holder: 'answer',
    enforcedIn: 'api/v1/operation/answer-csv.ts',
    triedIn: 'test/api/payments-csv.spec.ts',
  },
  LONG_ANSWER_BYTES_SENT: {
    unit: 'bytes of long answers of links while they are sent',
    holder: 'process',
    enforcedIn: 'api/process/open-deps.ts',
    triedIn: 'test/api/link-weight.spec.ts',
  },
  IMAGE_BYTES_SENT: {
    unit: 'bytes of images while they are sent',
    holder: 'process',
    enforcedIn: IMAGES,
    triedIn: 'test/api/image-weight.spec.ts',
  },
  IMAGE_BYTES_SENT_OF_ACCOUNT: {
    unit: 'bytes of images while they are sent',
    holder: 'account',
    enforcedIn: IMAGES,
    triedIn: 'test/api/image-weight.spec.ts',
  },
  PROMPT_REFUSALS_A_MINUTE: {
    unit: 'refusals that are sent at once',
    holder: 'address',
    enforcedIn: RATE_LIMITERS,
    triedIn: 'test/api/address-limits.spec.ts',
  },
  WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE: ofLogins('address'),
  WRONG_PASSWORDS_A_MINUTE: ofLogins('process'),
};

function ofLogins(holder: Holder): Unit {
  const triedIn = 'test/unit/limits/login-limiter.spec.ts';
  const unit = "wrong operators' passwords that are checked";
  return { unit, holder, enforcedIn: 'shared/limits/login-limiter.ts', triedIn };
}
