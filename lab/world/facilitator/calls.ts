import type { IncomingHttpHeaders } from 'node:http';
import type { EndpointName } from './endpoints.js';

export interface FacilitatorCall {
  headers: IncomingHttpHeaders;
  /** Undefined when the body is not JSON. */
  body: unknown;
  /** The authorization's nonce or the hash of the Solana message; empty when there is none. */
  paymentId: string;
  /** Resolves when the work is done and the connection has been answered or has ended. */
  done: Promise<void>;
}

interface Waiter {
  endpoint: EndpointName;
  count: number;
  resolve: (call: FacilitatorCall) => void;
  reject: (error: Error) => void;
}

/** The calls of a facilitator's endpoints, and the tests that wait for one. */
export class Calls {
  readonly of: Record<EndpointName, FacilitatorCall[]> = { supported: [], verify: [], settle: [] };
  readonly #waiters = new Set<Waiter>();

  record(endpoint: EndpointName, call: FacilitatorCall): void {
    this.of[endpoint].push(call);
    for (const waiter of this.#waiters) {
      if (waiter.endpoint !== endpoint || this.of[endpoint].length < waiter.count) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(call);
    }
  }

  waitFor(endpoint: EndpointName, count = 1): Promise<FacilitatorCall> {
    const call = this.of[endpoint][count - 1];
    if (call !== undefined) return Promise.resolve(call);
    return new Promise((resolve, reject) => this.#waiters.add({ endpoint, count, resolve, reject }));
  }

  close(): void {
    for (const { endpoint, count, reject } of this.#waiters) {
      reject(new Error(`The facilitator closed before call ${count} of /${endpoint}.`));
    }
    this.#waiters.clear();
  }
}
