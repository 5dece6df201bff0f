import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { BuyersEntry, Outcome } from '../journals/entries.js';
import type { Journal } from '../journals/journal.js';
import type { SignedPayment, Wallet } from '../wallets/wallets.js';
import type { Reply, ServiceClient } from './service-client.js';

/**
 * A buyer agent that pays one link as a stock client does, and keeps retrying: it quotes, signs, sends, polls after a
 * 202 or 409, and sends the same signature again after a 503 or a broken connection. It signs another payment only
 * after the service has said that the last one failed.
 */
interface BuyerOptions {
  client: ServiceClient;
  journal: Journal<BuyersEntry>;
  wallet: Wallet;
  sessionId: string;
  /** No other buyer pays this link. */
  isOnlyBuyer: boolean;
  /** The number of copies of each signature that are sent at once. */
  copies: number;
}

interface Signed extends SignedPayment {
  /** The service may still be processing the signature: a request with it was given up, or answered 202. */
  mayContinue: boolean;
  wasTaken: boolean;
}

type Ended = Exclude<Outcome, 'gave_up'>;
type Result = Ended | 'failed';

const MAX_SIGNATURES = 4;
/** The service takes up to three minutes to decide a Solana payment whose money never moves. */
const TIMEOUT_MS = { evm: 180_000, svm: 420_000 };
const NETWORKS = { evm: 'eip155:', svm: 'solana:' };
/** Statuses from the best answer to the worst. */
const BEST_FIRST = [200, 202, 409, 410, 404, 500, 503, 0, 402];
/** The words of a 402 after an uncertain failure. */
const MAY_BE_TAKEN = /may have been taken/;

export class Buyer {
  readonly #options: BuyerOptions;
  readonly #timesOutAt: number;
  last: Signed | undefined;

  constructor(options: BuyerOptions) {
    this.#options = options;
    this.#timesOutAt = nowMs() + TIMEOUT_MS[options.wallet.family];
  }

  async buy(): Promise<Outcome> {
    for (let signatures = 0; signatures < MAX_SIGNATURES; signatures += 1) {
      const quote = await this.#poll();
      if (quote.status !== 402) return ended(quote);
      this.last = await this.#sign(quote);
      const result = await this.#send(this.last);
      if (result !== 'failed') return result;
    }
    return 'gave_up';
  }

  /** Polls until the answer is final: 200, 402, 410, or 404 of a session that Postgres has lost. */
  async #poll(): Promise<Reply> {
    const { client, sessionId } = this.#options;
    for (;;) {
      const reply = await client.send(`/c/${sessionId}`, {}, { request: 'link', sessionId });
      if ([200, 402, 404, 410].includes(reply.status) || nowMs() > this.#timesOutAt) return reply;
      await sleep(reply.retryAfterMs);
    }
  }

  async #sign({ body }: Reply): Promise<Signed> {
    const { wallet, journal, sessionId } = this.#options;
    const { family } = wallet;
    const offers = body.accepts as PaymentRequirements[];
    const offer = offers.find(({ network }) => network.startsWith(NETWORKS[family]));
    if (offer === undefined) throw new Error(`the link of ${sessionId} offers nothing of ${family}`);
    const signed = await wallet.sign(offer);
    const { nonce, validBefore } = signed;
    journal.write({ kind: 'signed', at: nowMs(), sessionId, nonce, family, validBefore });
    return { ...signed, mayContinue: false, wasTaken: false };
  }

  async #send(signed: Signed): Promise<Result> {
    while (nowMs() < signed.validBefore * 1000 && nowMs() < this.#timesOutAt) {
      const replies = await Promise.all(
        Array.from({ length: this.#options.copies }, () => this.#pay(signed)),
      );
      if (replies.some(({ mayContinue }) => mayContinue)) signed.mayContinue = true;
      const [reply] = replies.sort((a, b) => BEST_FIRST.indexOf(a.status) - BEST_FIRST.indexOf(b.status));
      if (reply === undefined) break;
      if (reply.status === 200) return 'paid';
      if (reply.status === 410 || reply.status === 404) return ended(reply);
      if (reply.status === 402) return this.#recordFailure(signed, reply);
      if (reply.status === 202) signed.wasTaken = true;
      if (reply.status === 202 || reply.status === 409) return await this.#await(signed);
      await sleep(reply.retryAfterMs);
    }
    return await this.#await(signed);
  }

  async #pay({ header, nonce }: Signed): Promise<Reply> {
    const { client, sessionId } = this.#options;
    const init = { headers: { 'PAYMENT-SIGNATURE': header } };
    return await client.send(`/c/${sessionId}`, init, { request: 'pay', sessionId, nonce });
  }

  async #await(signed: Signed): Promise<Result> {
    const reply = await this.#poll();
    if (reply.status === 200) return 'paid';
    if (reply.status !== 402) return ended(reply);
    const isAboutThisPayment = this.#options.isOnlyBuyer && signed.wasTaken && reply.code !== undefined;
    return isAboutThisPayment ? this.#recordFailure(signed, reply) : 'failed';
  }

  #recordFailure({ nonce, mayContinue }: Signed, { code, body }: Reply): Result {
    const { journal, sessionId } = this.#options;
    if (MAY_BE_TAKEN.test(String(body.error))) {
      journal.write({ kind: 'told_uncertain', at: nowMs(), sessionId, nonce, code });
      return 'uncertain';
    }
    if (!mayContinue) journal.write({ kind: 'told_failed', at: nowMs(), sessionId, nonce, code });
    return 'failed';
  }
}

function ended({ status }: Reply): Ended {
  if (status === 200) return 'paid';
  if (status === 410) return 'expired';
  return status === 404 ? 'gone' : 'timed_out';
}
