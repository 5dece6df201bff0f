import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../world/chance/seeded-random.js';
import type { FakeFacilitator } from '../../world/facilitator/facilitator.js';
import { purchase } from './purchase.js';
import { openSystem, type System } from './system.js';
import { endTrouble, TROUBLES, type Trouble } from './troubles.js';

export interface FacilitatorsOptions {
  payments: number;
  seed: number;
  print(text: string): void;
  opened(part: { stop(): Promise<void> }): void;
}

const AT_ONCE = 6;
/** Late money is found a minute after the end of the authorization, which is a minute ahead. */
const DECIDED_WITHIN_MS = 300_000;

/** Two facilitators, of which one dies, hangs, lies or is slow in turn, while buyers pay on three networks. */
export async function runFacilitators({
  payments,
  seed,
  print,
  opened,
}: FacilitatorsOptions): Promise<string[]> {
  print(`Starting a web and a worker process, two facilitators and three chains, with seed ${seed} …\n`);
  const system = await openSystem(opened);
  const random = seededRandom(seed);
  const violations: string[] = [];
  const open: Promise<void>[] = [];
  // The service knows what each facilitator serves before one of them is away.
  await sell(system, system.servedBy.size, open);
  const phases = TROUBLES.flatMap((trouble) => system.facilitators.map((ill) => ({ trouble, ill })));
  for (const [index, { trouble, ill }] of phases.entries()) {
    const share =
      Math.floor((payments * (index + 1)) / phases.length) - Math.floor((payments * index) / phases.length);
    await trouble.begin(ill, random);
    const statuses = await sell(system, share, open);
    violations.push(...judgePhase(system, { trouble, ill }, statuses, print));
    await endTrouble(ill);
  }
  await Promise.all(open);
  violations.push(...(await judgeBooks(system, print)));
  print(violations.length === 0 ? 'Every check passed.\n' : `BROKEN:\n${violations.join('\n')}\n`);
  return violations;
}

/** The first answers by network. */
type Statuses = ReadonlyMap<string, number[]>;

async function sell(system: System, count: number, open: Promise<void>[]): Promise<Statuses> {
  const networks = [...system.servedBy.keys()];
  const statuses = new Map(networks.map((network) => [network, [] as number[]]));
  let begun = 0;
  const serve = async (): Promise<void> => {
    while (begun < count) {
      const network = networks[begun % networks.length] ?? '';
      begun += 1;
      const { firstStatus, paid } = await purchase(system, network);
      statuses.get(network)?.push(firstStatus);
      open.push(paid);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, serve));
  return statuses;
}

function judgePhase(
  { servedBy, facilitators }: System,
  { trouble, ill }: { trouble: Trouble; ill: FakeFacilitator },
  statuses: Statuses,
  print: (text: string) => void,
): string[] {
  const name = `the ${facilitators[0] === ill ? 'first' : 'second'} ${trouble.name}`;
  return [...statuses].flatMap(([network, all]) => {
    const refused = all.filter((status) => status === 503).length;
    const servers = servedBy.get(network) ?? [];
    const isOnlyIts = servers.length === 1 && servers[0] === ill;
    print(
      `${name}: ${network} ${refused} of ${all.length} answered 503${isOnlyIts ? ', only it serves the network' : ''}\n`,
    );
    if (!(isOnlyIts && trouble.isAway)) return refused === 0 ? [] : [`${name}: 503 on ${network}`];
    return refused === all.length ? [] : [`${name}: paid on ${network}, which nobody serves`];
  });
}

interface BookedPayment {
  id: string;
  status: string;
  payable_id: string;
  payload_key: string;
}

async function judgeBooks(
  { db, facilitators, movedTwice }: System,
  print: (text: string) => void,
): Promise<string[]> {
  const movements = facilitators.flatMap(({ ledger }) => ledger);
  const endMs = performance.now() + DECIDED_WITHIN_MS;
  for (;;) {
    const { rows: payments } = await db.query<BookedPayment>(
      'SELECT id, status, payable_id, payload_key FROM payments',
    );
    const succeeded = payments.filter(({ status }) => status === 'succeeded');
    const paid = new Set(succeeded.map(({ payload_key }) => payload_key.split(':').at(-1)));
    const lost = movements.filter(({ paymentId }) => !paid.has(paymentId.toLowerCase()));
    const undecided = payments.filter(({ status }) => status === 'processing');
    if (lost.length + undecided.length > 0 && performance.now() < endMs) {
      await sleep(1000);
      continue;
    }
    const { rows: events } = await db.query<{ payable_id: string }>(
      `SELECT payable_id FROM events WHERE type = 'checkout.session.completed'`,
    );
    const told = new Set(events.map(({ payable_id }) => payable_id));
    const untold = succeeded.filter(({ payable_id }) => !told.has(payable_id));
    print(
      `${payments.length} payments, ${movements.length} moved money, ${succeeded.length} succeeded, ${events.length} events\n`,
    );
    return [
      ...lost.map(({ paymentId }) => `lost: ${paymentId}`),
      ...undecided.map(({ id }) => `undecided: ${id}`),
      ...movedTwice.map((paymentId) => `moved twice: ${paymentId}`),
      ...untold.map(({ id }) => `no event: ${id}`),
      ...(succeeded.length > movements.length ? ['more payments succeeded than moved money'] : []),
      ...(events.length > told.size ? ['a session was completed twice'] : []),
    ];
  }
}
