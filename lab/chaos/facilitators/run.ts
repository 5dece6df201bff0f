import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../world/chance/seeded-random.js';
import type { FakeFacilitator } from '../../world/facilitator/facilitator.js';
import type { ChaosOptions, RunContext } from '../command/options.js';
import { SOLANA } from './chains.js';
import { purchase } from './purchase.js';
import { openSystem, type System } from './system.js';
import { endTrouble, TROUBLES, type Trouble } from './troubles.js';

const AT_ONCE = 6;
/** Late money is found a minute after the end of the authorization, which is a minute ahead. */
const DECIDED_WITHIN_MS = 300_000;

/** Two facilitators, of which one dies, hangs, lies or is slow in turn, while buyers pay on several networks. */
export async function runFacilitators(
  { payments, seed, solana }: ChaosOptions,
  { parts, print }: RunContext,
): Promise<string[]> {
  print(`Starting a web and a worker process, two facilitators and their chains, with seed ${seed} …\n`);
  const system = await openSystem(solana > 0, parts);
  const random = seededRandom(seed);
  const violations: string[] = [];
  const open: Promise<void>[] = [];
  // The service knows what each facilitator serves before one of them is away.
  await sell(system, [...system.servedBy.keys()], open);
  const phases = TROUBLES.flatMap((trouble) => system.facilitators.map((ill) => ({ trouble, ill })));
  for (const [index, { trouble, ill }] of phases.entries()) {
    const share =
      Math.floor((payments * (index + 1)) / phases.length) - Math.floor((payments * index) / phases.length);
    await trouble.begin(ill, random);
    const sales = await sell(system, drawNetworks(system, share, solana), open);
    violations.push(...judgePhase(system, { trouble, ill }, sales, print));
    await endTrouble(ill);
  }
  await Promise.all(open);
  violations.push(...(await judgeBooks(system, print)));
  print(violations.length === 0 ? 'Every check passed.\n' : `BROKEN:\n${violations.join('\n')}\n`);
  return violations;
}

interface Sale {
  network: string;
  firstStatus: number;
  feePayer?: string | undefined;
}

/** The EVM networks in turn, and Solana in between. */
function drawNetworks({ servedBy }: System, count: number, solana: number): string[] {
  const onEvm = [...servedBy.keys()].filter((network) => network !== SOLANA);
  return Array.from({ length: count }, (_, index) =>
    Math.floor((index + 1) * solana) > Math.floor(index * solana)
      ? SOLANA
      : (onEvm[index % onEvm.length] ?? ''),
  );
}

/** Makes one purchase for each entry of `networks`. */
async function sell(system: System, networks: readonly string[], open: Promise<void>[]): Promise<Sale[]> {
  const sales: Sale[] = [];
  const waiting = [...networks];
  const serve = async (): Promise<void> => {
    for (let network = waiting.shift(); network !== undefined; network = waiting.shift()) {
      const { paid, ...sale } = await purchase(system, network);
      sales.push({ network, ...sale });
      open.push(paid);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, serve));
  return sales;
}

/** A Solana payment is only for the facilitator whose fee payer its link has named. */
function judgePhase(
  { servedBy, facilitators }: System,
  { trouble, ill }: { trouble: Trouble; ill: FakeFacilitator },
  sales: readonly Sale[],
  print: (text: string) => void,
): string[] {
  const name = `the ${facilitators[0] === ill ? 'first' : 'second'} ${trouble.name}`;
  return [...servedBy].flatMap(([network, all]) => {
    const sold = sales.filter((sale) => sale.network === network);
    const isOnlyIts = ({ feePayer }: Pick<Sale, 'feePayer'>): boolean =>
      feePayer === undefined ? all.every((one) => one === ill) : ill.feePayers.includes(feePayer);
    const refused = sold.filter(({ firstStatus }) => firstStatus === 503);
    const isOnlyOne = isOnlyIts({ feePayer: undefined });
    print(
      `${name}: ${network} ${refused.length} of ${sold.length} answered 503${isOnlyOne ? ', only it serves the network' : ''}\n`,
    );
    const wrong = sold.filter((sale) => (trouble.isAway && isOnlyIts(sale)) !== (sale.firstStatus === 503));
    const staysWithIt = !isOnlyOne && refused.length > AT_ONCE;
    return [
      ...wrong.map(({ firstStatus }) => `${name}: ${firstStatus} on ${network}`),
      ...(staysWithIt ? [`${name}: links on ${network} go on naming its fee payer`] : []),
    ];
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
