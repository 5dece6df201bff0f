import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestInit } from 'undici';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { paymentHeader, signEvmPayment } from '../../world/shop/agent.js';
import { coffeeOrder } from '../../world/shop/coffee-order.js';
import { ask } from '../deployment/ask.js';
import type { Deployment } from '../deployment/deployment.js';

/** A request through the balancer that was not answered as expected. */
interface Lost {
  request: string;
  /** The status with the error's code, or `cut off` when the connection broke. */
  answer: string;
}

/** Counts since the last report. */
export interface Traded {
  requests: number;
  lost: Lost[];
  longestMs: number;
}

interface Reply {
  status: number;
  body: Record<string, unknown>;
}

const TRADERS = 8;
/** A fast machine sells no more, so that a run costs the same on each. */
const SALE_EVERY_MS = 1000;
/** A disaster that loses sales loses all of them for as long as it lasts, so a third of the sales shows it as well. */
const SALE_EVERY_MS_IN_DISASTERS = 3000;
const POLL_MS = 250;
/** A payment in flight on a killed worker is checked on the chain after its call's timeout. */
const PATIENCE_MS = 90_000;
export const ORDER = JSON.stringify(coffeeOrder());
const JSON_TYPE = { 'Content-Type': 'application/json' };

/**
 * A merchant's sales: each is created, quoted, paid by an agent, and polled until it is paid. A lost request is counted
 * and sent again with the same idempotency key or the same signature, as Stripe's SDK and the x402 clients do.
 */
export class Trade {
  /** Every created session, and whether its buyer was told that it is paid. */
  readonly sold = new Map<string, boolean>();
  readonly #deployment: Deployment;
  readonly #traders: Promise<void>[];
  #traded: Traded = nothingYet();
  #saleEveryMs = SALE_EVERY_MS;
  #isOver = false;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#traders = Array.from({ length: TRADERS }, () => this.#sellOn());
  }

  take(): Traded {
    const traded = this.#traded;
    this.#traded = nothingYet();
    return traded;
  }

  slowDown(): void {
    this.#saleEveryMs = SALE_EVERY_MS_IN_DISASTERS;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#traders);
  }

  async #sellOn(): Promise<void> {
    while (!this.#isOver) {
      const next = sleep(this.#saleEveryMs);
      await this.sell();
      await next;
    }
  }

  /** Makes a sale, also after the end of the trade. */
  async sell(): Promise<void> {
    const created = await this.#retry('create', '/v1/checkout/sessions', [200], {
      method: 'POST',
      headers: { ...JSON_TYPE, ...this.#authorization, 'Idempotency-Key': crypto.randomUUID() },
      body: ORDER,
    });
    const id = String(created.body.id);
    this.sold.set(id, false);
    const quote = await this.#retry('ask', `/c/${id}`, [402]);
    const [offer] = quote.body.accepts as PaymentRequirements[];
    if (offer === undefined) throw new Error(`the link of ${id} offers nothing`);
    const account = privateKeyToAccount(generatePrivateKey());
    const payment = { 'PAYMENT-SIGNATURE': paymentHeader(offer, await signEvmPayment(offer, { account })) };
    // A 409 means that the first attempt was accepted.
    let reply = await this.#retry('pay', `/c/${id}`, [200, 202, 409], { headers: payment });
    const endsAt = performance.now() + PATIENCE_MS;
    while (reply.status !== 200 && performance.now() < endsAt) {
      await sleep(POLL_MS);
      reply = await this.#retry('poll', `/c/${id}`, [200, 202]);
    }
    this.sold.set(id, reply.status === 200);
    await this.#retry('retrieve', `/v1/checkout/sessions/${id}`, [200], { headers: this.#authorization });
  }

  /** Retries until the answer is one of `wanted`. */
  async #retry(request: string, path: string, wanted: number[], init: RequestInit = {}): Promise<Reply> {
    for (const endsAt = performance.now() + PATIENCE_MS; ; await sleep(POLL_MS)) {
      const began = performance.now();
      const reply = await answerOf(this.#deployment.url + path, init);
      this.#traded.requests += 1;
      this.#traded.longestMs = Math.max(this.#traded.longestMs, performance.now() - began);
      if (wanted.includes(reply.status)) return reply;
      this.#traded.lost.push({ request, answer: nameOf(reply) });
      if (performance.now() > endsAt)
        throw new Error(`${request} was never answered: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
  }

  get #authorization(): Record<string, string> {
    return { Authorization: `Bearer ${this.#deployment.key}` };
  }
}

async function answerOf(url: string, init: RequestInit): Promise<Reply> {
  try {
    const response = await ask(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, body: parse(await response.text()) };
  } catch {
    return { status: 0, body: {} };
  }
}

function nameOf({ status, body }: Reply): string {
  if (status === 0) return 'cut off';
  const { error } = body as { error?: { code?: string } };
  return `${status} ${error?.code ?? 'of the balancer'}`;
}

/** The balancer's own answers are HTML. */
function parse(text: string): Reply['body'] {
  return text.startsWith('{') ? JSON.parse(text) : { text };
}

function nothingYet(): Traded {
  return { requests: 0, lost: [], longestMs: 0 };
}
