import { seededRandom } from '../../world/chance/seeded-random.js';
import type { ExplainedPayment } from '../../world/history/judge-history.js';
import type {
  Answer,
  BuyersEntry,
  EndpointEntry,
  FacilitatorEntry,
  FaultEntry,
  Received,
  Transfer,
} from '../journals/entries.js';
import { ServiceClient } from '../purchases/service-client.js';
import type { IdleConnection } from '../system/postgres-store.js';
import type { System } from '../system/system.js';
import { forgottenIn } from './forgotten.js';

/** Everything that the checks compare: the actors' journals, and the public API's answers. */
export interface Evidence {
  sessions: Map<string, PublicSession>;
  refunds: Map<string, PublicRefund>;
  /** The payments list: payments of sessions that succeeded. */
  payments: PublicPayment[];
  /** The number of payments with an open outcome, from the metrics page. */
  undecided: number;
  buyers: BuyersEntry[];
  answers: Answer[];
  ledger: Transfer[];
  /** Payments that the facilitator falsely reported as failed: telling their buyers so was correct. */
  liedAbout: Set<string>;
  received: Received[];
  endpoints: Exclude<EndpointEntry, Answer>[];
  faults: FaultEntry[];
  /** Calls of the facilitator. */
  calls: FacilitatorEntry[];
  idleInTransaction: IdleConnection[];
  histories: ExplainedPayment[];
  /** Sessions and refunds of which Postgres may have lost something, since a standby was promoted. */
  forgotten: ReadonlySet<string>;
  /** Transactions that reconcile has listed as money which no payment has. */
  listed: ReadonlySet<string>;
}

export const NO_EVIDENCE: Evidence = {
  sessions: new Map(),
  refunds: new Map(),
  payments: [],
  undecided: 0,
  buyers: [],
  answers: [],
  ledger: [],
  liedAbout: new Set(),
  received: [],
  endpoints: [],
  faults: [],
  calls: [],
  idleInTransaction: [],
  histories: [],
  forgotten: new Set(),
  listed: new Set(),
};

export interface PublicSession {
  id: string;
  status: string;
  payment: { transaction: string | null } | null;
}

export interface PublicRefund {
  id: string;
  status: string;
  amount: number;
  payment: string;
  transaction: string | null;
}

export interface PublicPayment {
  id: string;
  amount: number;
  status: string;
  transaction: string | null;
  checkout_session: string;
}

interface List<T> {
  data: T[];
  has_more: boolean;
}

const PAGE = 100;

export async function readEvidence(system: System, listed: ReadonlySet<string>): Promise<Evidence> {
  const { journals } = system;
  // The service is read before the journals, so that the journals are never behind it.
  const [sessions, refunds, payments, undecided, idleInTransaction, histories] = await Promise.all([
    readAll<PublicSession>(system, '/v1/checkout/sessions'),
    readAll<PublicRefund>(system, '/v1/refunds'),
    readAll<PublicPayment>(system, '/v1/payments'),
    readUndecided(system),
    system.postgres.idleInTransaction(),
    system.postgres.histories(),
  ]);
  const buyers = journals.buyers.read();
  const endpoints = journals.endpoints.read();
  const calls = journals.facilitator.read();
  const ledger = [...journals.chain.read(), ...journals.solana.read()];
  const received = journals.receiver.read();
  const faults = journals.faults.read();
  return {
    sessions: new Map(sessions.map((session) => [session.id, session])),
    refunds: new Map(refunds.map((refund) => [refund.id, refund])),
    payments,
    undecided,
    buyers,
    answers: [...buyers, ...endpoints].filter((entry) => entry.kind === 'answer'),
    ledger,
    liedAbout: new Set(calls.flatMap(({ lied, nonce }) => (lied ? [nonce] : []))),
    received,
    endpoints: endpoints.filter((entry) => entry.kind === 'endpoint'),
    faults,
    calls,
    idleInTransaction,
    histories,
    forgotten: forgottenIn({ buyers, ledger, received, faults }),
    listed,
  };
}

async function readAll<T extends { id: string }>(system: System, path: string): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const after = all.length === 0 ? '' : `&starting_after=${all.at(-1)?.id}`;
    const page = (await get(system, `${path}?limit=${PAGE}${after}`)) as unknown as List<T>;
    all.push(...page.data);
    if (!page.has_more) return all;
  }
}

async function get({ webs, key }: System, path: string): Promise<Record<string, unknown>> {
  const client = new ServiceClient({ webs, random: seededRandom(0), write: () => undefined });
  const { status, body } = await client.send(
    path,
    { headers: { Authorization: `Bearer ${key}` } },
    { request: 'link' },
  );
  if (status !== 200) throw new Error(`GET ${path} answers ${status}`);
  return body;
}

async function readUndecided({ webs, metricsToken }: System): Promise<number> {
  const headers = { Authorization: `Bearer ${metricsToken}` };
  const response = await fetch(`${webs[0]?.url}/metrics`, { headers });
  const [, count] = /^checkout_payments_processing (\d+)$/m.exec(await response.text()) ?? [];
  if (count === undefined) throw new Error('/metrics does not say how many payments are undecided');
  return Number(count);
}
