import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Knex } from '../../../shared/db/knex.js';
import { inGroups } from '../../../shared/values/in-groups.js';
import type { PaymentRequired } from '../../../shared/x402/wire.js';
import { EvmChain } from '../../world/chains/evm-chain.js';
import { breaksAfterWork } from '../../world/facilitator/dial.js';
import { type FakeFacilitator, startFacilitator } from '../../world/facilitator/facilitator.js';
import { paymentHeader, signEvmPayment } from '../../world/shop/agent.js';
import { buildMerchant, buildSessions } from '../../world/shop/factories.js';

/** Buyers who have paid, whose answers of /settle were lost, and whose chain is behind an endpoint that limits. */
interface Crowd {
  payments: number;
  callsPerSecond: number;
}

interface CrowdOutcome {
  /** Each status that a link answered after its payment, with the number of links. */
  told: Record<number, number>;
  /** Calls that the endpoint answered, for each payment. */
  callsEach: number;
  /** Calls that the endpoint limited. */
  limited: number;
  seconds: number;
}

/** The world outside the service. The processes' environment names its facilitator and its endpoint. */
export interface CrowdedWorld {
  chain: EvmChain;
  facilitator: FakeFacilitator;
  environment: Record<string, string>;
  close(): Promise<void>;
}

const CHAIN_ID = 84_532;
const NETWORK = `eip155:${CHAIN_ID}`;
const BLOCK_MS = 1000;
/** Links that are opened and paid at once. */
const AT_ONCE = 20;
const POLL_EVERY_MS = 500;
const DAY_MS = 86_400_000;

export async function openCrowdedWorld(): Promise<CrowdedWorld> {
  const chain = await EvmChain.start(CHAIN_ID);
  const blocks = setInterval(() => chain.mine(), BLOCK_MS);
  const facilitator = await startFacilitator({
    networks: [NETWORK],
    onSettled: ({ asset, from, to, amount, paymentId, transaction }) =>
      void chain.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, transaction),
  });
  facilitator.settle.always(breaksAfterWork());
  return {
    chain,
    facilitator,
    environment: {
      FACILITATOR_URL: facilitator.url,
      [`RPC_URL_EIP155_${CHAIN_ID}`]: chain.endpoint.url,
      SETTLE_WAIT_MS: '0',
      CHECK_TOKEN_ACCOUNTS: 'false',
      RATE_LIMIT_LINK_PER_MINUTE: '10000000',
    },
    async close() {
      clearInterval(blocks);
      await facilitator.close();
      await chain.close();
    },
  };
}

/** Pays, and reads each link until it has decided. Throws when a payment is not claimed, or none is decided within `withinMs`. */
export async function payInCrowd(
  { chain }: Pick<CrowdedWorld, 'chain'>,
  { db, webUrls }: { db: Knex; webUrls: readonly string[] },
  { payments, callsPerSecond }: Crowd,
  withinMs: number,
): Promise<CrowdOutcome> {
  const { accountId } = await buildMerchant(db);
  const expiresAt = new Date(Date.now() + DAY_MS);
  const sessions = await buildSessions(db, accountId, payments, { expiresAt });
  const links = sessions.map(({ id }, index) => `${webUrls[index % webUrls.length]}/c/${id}`);
  const { endpoint } = chain;
  endpoint.callsPerSecond = callsPerSecond;
  const before = { unlimited: endpoint.unlimited, total: endpoint.total };
  const startedAt = performance.now();
  await forEachLink(links, pay);
  const told = await pollUntilDecided(links, startedAt + withinMs);
  const answered = endpoint.unlimited - before.unlimited;
  return {
    told,
    callsEach: answered / payments,
    limited: endpoint.total - before.total - answered,
    seconds: (performance.now() - startedAt) / 1000,
  };
}

async function pay(link: string): Promise<void> {
  const quoted = await fetch(link);
  const { accepts } = (await quoted.json()) as PaymentRequired;
  const [accepted] = accepts;
  if (quoted.status !== 402 || accepted === undefined)
    throw new Error(`${link} offers nothing: ${quoted.status}`);
  const account = privateKeyToAccount(generatePrivateKey());
  const payload = await signEvmPayment(accepted, { account });
  const answer = await fetch(link, { headers: { 'PAYMENT-SIGNATURE': paymentHeader(accepted, payload) } });
  if (answer.status !== 202) throw new Error(`${link} answered ${answer.status}: ${await answer.text()}`);
}

async function pollUntilDecided(links: readonly string[], endsAt: number): Promise<Record<number, number>> {
  const told: Record<number, number> = {};
  const open = new Set(links);
  while (open.size > 0) {
    if (performance.now() > endsAt) throw new Error(`${open.size} payments are not decided`);
    await sleep(POLL_EVERY_MS);
    await forEachLink([...open], async (link) => {
      const { status } = await fetch(link);
      if (status === 202) return;
      open.delete(link);
      told[status] = (told[status] ?? 0) + 1;
    });
  }
  return told;
}

async function forEachLink(links: readonly string[], visit: (link: string) => Promise<void>): Promise<void> {
  for (const group of inGroups(links, AT_ONCE)) await Promise.all(group.map(visit));
}
