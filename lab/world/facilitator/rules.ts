import { NETWORKS } from '../../../shared/chains/networks/networks.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { judgeAuthorization, readAuthorization } from './evm.js';
import type { Judgement, Movement, RuleOptions } from './judgement.js';
import { judgeTransaction, readTransaction } from './svm.js';

/** A facilitator's decisions; each method resolves to the body of an answer with status 200. */
export interface Rules {
  supported(): object;
  verify(request: FacilitatorRequest): Promise<object>;
  /** Calls `onBroadcast` when the transaction is sent. */
  settle(request: FacilitatorRequest, onBroadcast: () => void): Promise<object>;
}

/**
 * The checks that the x402 library's facilitator makes without a chain, in its order, with its reason strings. Money
 * moves in `ledger` alone.
 */
export class LedgerRules implements Rules {
  readonly ledger: Movement[] = [];
  readonly #options: RuleOptions;

  constructor(options: RuleOptions) {
    this.#options = options;
  }

  supported(): object {
    const { networks, feePayers } = this.#options;
    const listed = NETWORKS.filter(({ caip2 }) => networks?.includes(caip2) ?? true);
    return {
      kinds: listed.map(({ caip2, family }) => ({
        x402Version: 2,
        scheme: 'exact',
        network: caip2,
        ...(family === 'svm' ? { extra: { feePayer: feePayers[0] } } : {}),
      })),
      extensions: [],
      signers: { 'solana:*': feePayers },
    };
  }

  async verify(request: FacilitatorRequest): Promise<object> {
    const { reason, payer } = await this.#judge(request);
    return reason === undefined ? { isValid: true, payer } : { isValid: false, invalidReason: reason, payer };
  }

  async settle(request: FacilitatorRequest, onBroadcast: () => void): Promise<object> {
    const { network } = request.paymentRequirements;
    // The library checks its cache of Solana messages before it verifies.
    if (isSolana(request) && this.#isUsed(request)) return failure(usedReason(network), network);
    const { reason, payer } = await this.#judge(request);
    if (reason !== undefined) return failure(reason, network, payer);
    const movement = this.#move(request);
    if (movement === 'used') return failure(usedReason(network), network, payer);
    onBroadcast();
    await this.#options.onSettled?.(movement);
    return { success: true, transaction: movement.transaction, network, payer };
  }

  async #judge(request: FacilitatorRequest): Promise<Judgement> {
    const { scheme, network } = request.paymentRequirements;
    if (scheme !== 'exact') return { reason: 'unsupported_scheme', payer: '' };
    if (this.#options.networks?.includes(network) === false) return { reason: 'invalid_network', payer: '' };
    try {
      return isSolana(request)
        ? judgeTransaction(request, this.#options, () => this.#isUsed(request))
        : await judgeAuthorization(request, this.#options, () => this.#isUsed(request));
    } catch {
      // The library throws on a payload without the fields of its family; facilitators answer this then.
      return { reason: 'unexpected_verify_error', payer: '' };
    }
  }

  /** No `await` between the look-up and the ledger entry: two calls cannot both settle. */
  #move(request: FacilitatorRequest): Movement | 'used' {
    if (this.#isUsed(request)) return 'used';
    const { network, asset, payTo } = request.paymentRequirements;
    const moved = isSolana(request) ? readTransaction(request) : readAuthorization(request);
    const movement = { network, asset, to: payTo, ...moved };
    this.ledger.push(movement);
    return movement;
  }

  #isUsed(request: FacilitatorRequest): boolean {
    const { network } = request.paymentRequirements;
    const paymentId = paymentIdOf(request);
    return this.ledger.some((moved) => moved.network === network && moved.paymentId === paymentId);
  }
}

/** Empty when the payload is of no known family. */
export function paymentIdOf(request: FacilitatorRequest): string {
  try {
    return (isSolana(request) ? readTransaction(request) : readAuthorization(request)).paymentId;
  } catch {
    return '';
  }
}

function isSolana({ paymentRequirements }: FacilitatorRequest): boolean {
  return paymentRequirements.network.startsWith('solana:');
}

function failure(errorReason: string, network: string, payer = ''): object {
  return { success: false, errorReason, transaction: '', network, payer };
}

function usedReason(network: string): string {
  return network.startsWith('eip155:') ? 'invalid_exact_evm_nonce_already_used' : 'duplicate_settlement';
}
