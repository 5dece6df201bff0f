import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { judgeAuthorization, readAuthorization } from './evm.js';
import type { Judgement, Movement, RuleOptions } from './judgement.js';
import { judgeTransaction, readTransaction } from './svm.js';

/** The checks that the x402 library's facilitator makes without a chain, in its order, with its reason strings. */
export class FacilitatorRules {
  readonly ledger: Movement[] = [];
  readonly #options: RuleOptions;

  constructor(options: RuleOptions) {
    this.#options = options;
  }

  async verify(request: FacilitatorRequest): Promise<Judgement> {
    const { scheme, network } = request.paymentRequirements;
    if (scheme !== 'exact') return { reason: 'unsupported_scheme', payer: '' };
    if (this.#options.networks?.includes(network) === false) return { reason: 'invalid_network', payer: '' };
    try {
      return isSolana(request)
        ? judgeTransaction(request, this.#options, () => this.isUsed(request))
        : await judgeAuthorization(request, this.#options, () => this.isUsed(request));
    } catch {
      // The library throws on a payload without the fields of its family; facilitators answer this then.
      return { reason: 'unexpected_verify_error', payer: '' };
    }
  }

  /** No `await` between the look-up and the ledger entry: two calls cannot both settle. */
  settle(request: FacilitatorRequest): Movement | 'used' {
    if (this.isUsed(request)) return 'used';
    const { network, asset, payTo } = request.paymentRequirements;
    const moved = isSolana(request) ? readTransaction(request) : readAuthorization(request);
    const movement = { network, asset, to: payTo, ...moved };
    this.ledger.push(movement);
    return movement;
  }

  isUsed(request: FacilitatorRequest): boolean {
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
