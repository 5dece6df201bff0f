import type { Logger } from '../../process/logger.js';
import type { FacilitatorRequest } from '../wire.js';
import type { SettleAnswer, VerifyVerdict } from './facilitator-answers.js';

/** The party that a facilitator refuses to serve: the buyer's wallet, or the merchant and this service. */
type Refused = 'wallet' | 'seller';

export type Refusals = Readonly<Record<Refused, number>>;

interface RefusalCount {
  refusals: Refusals;
  /** Counts the answer if it is such a refusal, and returns it. */
  note<Answer extends VerifyVerdict | SettleAnswer>(answer: Answer, request: FacilitatorRequest): Answer;
}

const HINT =
  'The facilitator does not serve this merchant or this service, and buyers are answered 503. Register there, or ask it.';

/** Counts the refusals of one facilitator. The log says when only the operator can mend one. */
export function countRefusals(name: string, logger: Logger | undefined): RefusalCount {
  const refusals = { wallet: 0, seller: 0 };
  return {
    refusals,
    note(answer, { paymentRequirements }) {
      const refused = refusedBy(answer);
      if (refused === undefined) return answer;
      refusals[refused.who] += 1;
      if (refused.who === 'seller') {
        const { network, payTo: pay_to } = paymentRequirements;
        const { reason } = refused;
        const line = { event: 'facilitator.refused_seller', facilitator: name, network, pay_to, reason };
        logger?.error({ ...line, hint: HINT });
      }
      return answer;
    },
  };
}

function refusedBy(answer: VerifyVerdict | SettleAnswer): { who: Refused; reason: string } | undefined {
  if (!('class' in answer)) return undefined;
  const { class: about, reason } = answer;
  if (about === 'seller') return { who: 'seller', reason };
  return about === 'policy' ? { who: 'wallet', reason } : undefined;
}
