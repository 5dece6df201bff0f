import assert from 'node:assert/strict';
import * as bounds from '../../shared/limits/bounds.js';
import { below } from '../support/house-rules.js';
import { UNITS } from '../support/units/units.js';

/** Bounds of a cache: beyond them it drops its oldest entry. */
const CACHES = [
  'IMAGE_BYTES_KEPT',
  'MAX_HOLDINGS_KEPT',
  'MAX_KEY_USES_KEPT',
  'MAX_PAYOUT_WALLETS_KEPT',
  'MAX_REFUSED_KEYS_KEPT',
  'MAX_WRITERS_KEPT',
];

/** Bounds that say how another bound counts, from when it counts, or its consequences. */
const PARTS_OF_OTHERS = [
  'ANSWER_BYTES_PER_FURTHER_PIECE',
  'ANSWER_PART_BYTES',
  'ANSWER_PIECE_BYTES',
  'LIGHT_ITEMS_CHARACTERS',
  'LONG_ANSWER_BYTES',
  'QUARANTINE_AFTER_CRASHES',
  'REFUSED_LATER_MS',
  'SMALL_BODY_BYTES',
];

/** Statements in flight: read-link.ts passes the numbers on, and test/unit/db/batch-reads.spec.ts tries such a number. */
const STATEMENTS = ['IMAGE_READS_AT_ONCE', 'LINK_READS_AT_ONCE', 'LONG_READS_AT_ONCE'];

/** Processes of the operator, which no outsider multiplies. */
const OPERATORS = ['MAX_WORKER_PAGES'];

/** Limits of one value of a request: MAX_HEADER_BYTES and MAX_BODY_BYTES bound how many such values there are. */
const OF_ONE_VALUE =
  /_(LENGTH|CENTS|SECONDS|UINT256)$|^MAX_(LENGTH|NAME_BYTES|SERVICE_NAME|TRANSACTION_BYTES)$/;

/** Limits beside their use, each with its reason. A new one has a row in units.ts or a line here. */
const BESIDE_THEIR_USE: Readonly<Record<string, string>> = {
  'api/input/bracket-form.ts MAX_PARTS': 'brackets of one name in a form; MAX_BODY_DEPTH refuses more',
  'api/input/bracket-form.ts MAX_TREES': 'names of a form, whose pairs MAX_BODY_VALUES bounds',
  'api/input/list-query.ts DEFAULT_LIMIT': 'a default',
  'api/payment-link/http/fit-accepts.ts MAX_ENTRIES':
    "offers of our own answer, which the operator's networks and tokens multiply",
  'api/payment-link/http/fit-accepts.ts MAX_OFFERS': 'offers of our own answer',
  'api/payment-link/http/routes.ts MAX_TRANSACTION_REQUEST_BYTES': 'below MAX_BODY_BYTES',
  'api/deps/readiness-checks.ts MAX_BALANCERS':
    'addresses that are remembered; test/unit/process/readiness-checks.spec.ts',
  'shared/archive/statements/rows.sql.ts MAX_BYTES': "an operator's command",
  'shared/archive/statements/rows.sql.ts MAX_ROWS': "an operator's command",
  'shared/chains/check/chain-check.ts MAX_RETURN_MS': 'a part of the time of a check',
  'shared/chains/evm/evm-arrivals.ts RECEIPTS_AT_ONCE': 'calls of a check, bounded by MAX_WAITING_RPC_CALLS',
  'shared/chains/evm/wallet-logs.ts VALUES_AT_ONCE': 'values of one call of a check',
  'shared/chains/rpc/lagging-node.ts TRIES_AT_ONCE': 'calls of a check, bounded by MAX_WAITING_RPC_CALLS',
  'shared/chains/solana/payout-accounts.ts CHECKS_AT_ONCE':
    'reads in the background; test/unit/chains/payout-accounts.spec.ts',
  'shared/chains/solana/solana-search.ts FETCHED_AT_ONCE':
    'calls of a check, bounded by MAX_WAITING_RPC_CALLS',
  'shared/db/batch-reads.ts MAX_KEYS': 'keys of a statement; test/unit/db/batch-reads.spec.ts',
  'shared/db/batch-writes.ts MAX_BATCHES_IN_FLIGHT': 'statements in flight; test/db/batch-writes.spec.ts',
  'shared/db/batch-writes.ts MAX_ITEMS': 'writes of a statement; test/db/batch-writes.spec.ts',
  'shared/db/batch-writes.ts MAX_WAIT_MS': 'a pause of our own',
  'shared/db/commit-memory.ts MAX_SAMPLES': 'samples of our own clock',
  'shared/db/connection-shares.ts ACCOUNTS_KEPT': 'a cache',
  'shared/db/page-rows.ts MAX_ROWS': 'rows of a statement; test/db/batched-pages.spec.ts',
  'shared/limits/account-pauses.ts MAX_ACCOUNTS': 'a cache',
  'shared/payments/history.ts FIRST_KEPT': 'a part of MAX_ENTRIES',
  'shared/payments/history.ts MAX_ENTRIES': 'entries of one payment; test/db/payment-history.spec.ts',
  'shared/process/log-output.ts MOST_KEPT': 'lines of our own; test/unit/process/log-output.spec.ts',
  'shared/reconcile/check-succeeded.ts CHECKED_AT_ONCE':
    "an operator's command, and one round of it in a worker",
  'shared/reconcile/check-succeeded.ts MAX_UNCHECKED':
    "an operator's command, and one round of it in a worker",
  'shared/reconcile/progress.ts MAX_WAITING': "an operator's command, and one round of it in a worker",
  'shared/reconcile/read-solana.ts ENTRIES_AT_ONCE': "an operator's command, and one round of it in a worker",
  'shared/reconcile/read-solana.ts FETCHED_AT_ONCE': "an operator's command, and one round of it in a worker",
  'shared/reconcile/reconcile.ts NETWORKS_AT_ONCE': "an operator's command, and one round of it in a worker",
  'shared/settlement/policy/limits.ts MAX_SETTLE_CALLS': 'calls for one payment; test/unit/settlement',
  'shared/settlement/policy/limits.ts MAX_UNPROCESSED_CALLS': 'calls for one payment; test/unit/settlement',
  'shared/payments/find.ts MAX_FAILED': 'failed payments whose reason the page is told',
  'shared/payments/find.ts MAX_SHOWN_SURPLUS': 'payments that a paid answer shows',
  'shared/startup/watch-installation.ts MAX_WAITS': 'rounds of our own',
  'shared/tracing/open-telemetry.ts MAX_QUEUED_SPANS': 'spans are dropped beyond it',
  'shared/values/ids.ts COUNTER_LIMIT': 'ids of our own',
  'shared/webhooks/backoff.ts MAX_TRIES': 'tries of one delivery; test/unit/webhook-delivery/backoff.spec.ts',
  'shared/webhooks/pending-deliveries.ts DROPPED_AT_ONCE':
    'rows of a deletion; test/flows/webhooks/fan-out.spec.ts',
  'shared/x402/facilitator/facilitators.ts MAX_FEE_PAYERS_KEPT': 'a cache',
  'shared/x402/requirements.ts MAX_BUILT': 'a cache',
  'workers/jobs/deliver-webhook.ts TAKEN_AT_ONCE':
    "deliveries of an account's turn; test/flows/webhooks/webhooks-heavy.spec.ts",
  'workers/process/failure-log.ts MESSAGES_KEPT':
    'messages of our own statements; test/workers/failure-log.spec.ts',
  'workers/process/run-worker.ts MAX_STALLED_COUNT': 'jobs of our own queue',
};

const CONSTANT = /^(?:export )?const ([A-Z0-9_]+)\b/gm;
const LIMIT = /^MAX_|_(LIMIT|AT_ONCE|KEPT|PER_SECOND|A_MINUTE|WAITING)$|_IN_FLIGHT$/;
/** Amounts that pace our own calls, or name a statement. */
const PACE = /^(NEAR_LIMIT|RATE_AFTER_LIMIT|FIRST_IN_FLIGHT|MOST_IN_FLIGHT|EXPIRE_IN_FLIGHT)$/;

describe('the limits of the service', () => {
  const others = [...CACHES, ...PARTS_OF_OTHERS, ...STATEMENTS, ...OPERATORS];

  it('have a row in units.ts each, or a reason to have none', () => {
    const without = Object.keys(bounds).filter((name) => !(name in UNITS) && !others.includes(name));
    assert.deepEqual(without, []);
    assert.deepEqual(
      others.filter((name) => !(name in bounds) || name in UNITS),
      [],
      'names that are not needed',
    );
  });

  it('that bound a cache are its maximum', () => {
    const texts = ['api/', 'shared/'].flatMap(below).map(({ text }) => text);
    for (const name of CACHES)
      assert.ok(
        texts.some((text) => new RegExp(`\\b(lruCache<.*>\\(|maxSize: |keys: |, )${name}\\b`).test(text)),
        name,
      );
  });

  it('stand in bounds.ts, or beside their use with a reason', () => {
    // A page in a browser runs for its visitor alone.
    const files = ['api/', 'shared/', 'workers/']
      .flatMap(below)
      .filter(({ file }) => file !== 'shared/limits/bounds.ts' && !file.includes('/browser/'));
    const found = files.flatMap(({ file, text }) =>
      [...text.matchAll(CONSTANT)]
        .map(([, name = '']) => name)
        .filter((name) => LIMIT.test(name) && !OF_ONE_VALUE.test(name) && !PACE.test(name))
        .map((name) => `${file} ${name}`),
    );
    assert.deepEqual(found.sort(), Object.keys(BESIDE_THEIR_USE).sort());
  });
});
