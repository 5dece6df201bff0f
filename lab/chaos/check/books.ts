import { seededRandom } from '../../world/chance/seeded-random.js';
import type {
  Answer,
  BuyersEntry,
  EndpointEntry,
  FacilitatorEntry,
  FaultEntry,
  Received,
  Transfer,
} from '../actors/entries.js';
import { ServiceClient } from '../actors/service-client.js';
import type { IdleConnection } from '../stage/postgres-store.js';
import type { Stage } from '../stage/stage.js';

/** All that the checker knows: what the actors wrote down, and what the public API says. */
export interface Books {
  sessions: Map<string, PublicSession>;
  refunds: Map<string, PublicRefund>;
  /** Of the payments list: those of sessions that succeeded. */
  payments: PublicPayment[];
  /** Payments whose outcome is open, by the metrics page. */
  undecided: number;
  buyers: BuyersEntry[];
  answers: Answer[];
  ledger: Transfer[];
  /** Of which the facilitator said clearly that it had failed: a buyer who was told so was told right. */
  liedAbout: Set<string>;
  received: Received[];
  endpoints: Exclude<EndpointEntry, Answer>[];
  faults: FaultEntry[];
  /** Of the facilitator. */
  calls: FacilitatorEntry[];
  idleInTransaction: IdleConnection[];
}

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

export async function readBooks(stage: Stage): Promise<Books> {
  const { journals } = stage;
  // What the service says is asked first: the journals are never behind it.
  const [sessions, refunds, payments, undecided, idleInTransaction] = await Promise.all([
    readAll<PublicSession>(stage, '/v1/checkout/sessions'),
    readAll<PublicRefund>(stage, '/v1/refunds'),
    readAll<PublicPayment>(stage, '/v1/payments'),
    readUndecided(stage),
    stage.postgres.idleInTransaction(),
  ]);
  const buyers = journals.buyers.read();
  const endpoints = journals.endpoints.read();
  const calls = journals.facilitator.read();
  return {
    sessions: new Map(sessions.map((session) => [session.id, session])),
    refunds: new Map(refunds.map((refund) => [refund.id, refund])),
    payments,
    undecided,
    buyers,
    answers: [...buyers, ...endpoints].filter((entry) => entry.kind === 'answer'),
    ledger: [...journals.chain.read(), ...journals.solana.read()],
    liedAbout: new Set(calls.flatMap(({ lied, nonce }) => (lied ? [nonce] : []))),
    received: journals.receiver.read(),
    endpoints: endpoints.filter((entry) => entry.kind === 'endpoint'),
    faults: journals.faults.read(),
    calls,
    idleInTransaction,
  };
}

async function readAll<T extends { id: string }>(stage: Stage, path: string): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const after = all.length === 0 ? '' : `&starting_after=${all.at(-1)?.id}`;
    const page = (await get(stage, `${path}?limit=${PAGE}${after}`)) as unknown as List<T>;
    all.push(...page.data);
    if (!page.has_more) return all;
  }
}

async function get({ webs, key }: Stage, path: string): Promise<Record<string, unknown>> {
  const client = new ServiceClient({ webs, random: seededRandom(0), write: () => undefined });
  const { status, body } = await client.send(
    path,
    { headers: { Authorization: `Bearer ${key}` } },
    { request: 'link' },
  );
  if (status !== 200) throw new Error(`GET ${path} answers ${status}`);
  return body;
}

async function readUndecided({ webs, metricsToken }: Stage): Promise<number> {
  const headers = { Authorization: `Bearer ${metricsToken}` };
  const response = await fetch(`${webs[0]?.url}/metrics`, { headers });
  const [, count] = /^checkout_payments_processing (\d+)$/m.exec(await response.text()) ?? [];
  if (count === undefined) throw new Error('/metrics does not say how many payments are undecided');
  return Number(count);
}
