import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { BuyersEntry, Outcome } from './entries.js';
import type { Journal } from './journal.js';
import type { Reply, ServiceClient } from './service-client.js';
import type { SignedPayment, Wallet } from './wallets.js';

/**
 * An agent that pays one link as a stock client does, and does not give up: it asks, signs, sends, polls when it was
 * answered 202 or 409, sends the same signature again after 503 or a broken connection, and signs another payment only
 * when it is told that the last one came to nothing.
 */
export interface BuyerOptions {
  client: ServiceClient;
  journal: Journal<BuyersEntry>;
  wallet: Wallet;
  sessionId: string;
  /** Nobody else pays this link. */
  alone: boolean;
  /** How often each signature is sent at once. */
  copies: number;
}

interface Signed extends SignedPayment {
  /** A request that carried it was given up and may still be carried out; or the service took it and answered 202. */
  mayGoOn: boolean;
  wasTaken: boolean;
}

type Fate = 'paid' | 'expired' | 'failed' | 'lost_patience';

const MAX_SIGNATURES = 4;
/** A payment on Solana whose money never moves is decided three minutes after it was claimed. */
const PATIENCE_MS = { evm: 180_000, svm: 420_000 };
const NETWORKS = { evm: 'eip155:', svm: 'solana:' };
/** From the best news to the worst. */
const BEST_FIRST = [200, 202, 409, 410, 500, 503, 0, 402];

export class Buyer {
  readonly #options: BuyerOptions;
  readonly #givesUpAt: number;
  last: Signed | undefined;

  constructor(options: BuyerOptions) {
    this.#options = options;
    this.#givesUpAt = nowMs() + PATIENCE_MS[options.wallet.family];
  }

  async buy(): Promise<Outcome> {
    for (let signatures = 0; signatures < MAX_SIGNATURES; signatures += 1) {
      const quote = await this.#poll();
      if (quote.status === 200) return 'paid';
      if (quote.status === 410) return 'expired';
      if (quote.status !== 402) return 'lost_patience';
      this.last = await this.#sign(quote);
      const fate = await this.#send(this.last);
      if (fate !== 'failed') return fate;
    }
    return 'gave_up';
  }

  /** Asks until it is told how the session stands: 200, 402, 410. */
  async #poll(): Promise<Reply> {
    const { client, sessionId } = this.#options;
    for (;;) {
      const reply = await client.send(`/c/${sessionId}`, {}, { request: 'link', sessionId });
      if ([200, 402, 410].includes(reply.status) || nowMs() > this.#givesUpAt) return reply;
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
    return { ...signed, mayGoOn: false, wasTaken: false };
  }

  async #send(signed: Signed): Promise<Fate> {
    while (nowMs() < signed.validBefore * 1000 && nowMs() < this.#givesUpAt) {
      const replies = await Promise.all(
        Array.from({ length: this.#options.copies }, () => this.#pay(signed)),
      );
      if (replies.some(({ mayGoOn }) => mayGoOn)) signed.mayGoOn = true;
      const [reply] = replies.sort((a, b) => BEST_FIRST.indexOf(a.status) - BEST_FIRST.indexOf(b.status));
      if (reply === undefined) break;
      if (reply.status === 200) return 'paid';
      if (reply.status === 410) return 'expired';
      if (reply.status === 402) return this.#hearOfFailure(signed, reply);
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

  async #await(signed: Signed): Promise<Fate> {
    const reply = await this.#poll();
    if (reply.status === 200) return 'paid';
    if (reply.status === 410) return 'expired';
    if (reply.status !== 402) return 'lost_patience';
    const isAboutIt = this.#options.alone && signed.wasTaken && reply.code !== undefined;
    return isAboutIt ? this.#hearOfFailure(signed, reply) : 'failed';
  }

  #hearOfFailure({ nonce, mayGoOn }: Signed, { code }: Reply): Fate {
    const { journal, sessionId } = this.#options;
    if (!mayGoOn) journal.write({ kind: 'told_failed', at: nowMs(), sessionId, nonce, code });
    return 'failed';
  }
}
