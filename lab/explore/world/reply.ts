import type { FacilitatorReply } from '../../../shared/x402/facilitator/facilitator-answers.js';
import type { Certainty } from '../../world/facilitator/settle-faults.js';
import { HUNG_UP, type UnclearReply } from '../steps/replies.js';
import type { SettleFaultMode } from '../steps/steps.js';

export interface Reply {
  reply: FacilitatorReply;
  /** The facilitator's meaning of the answer, however it is worded. */
  meaning: Certainty;
}

interface Facts {
  network: string;
  /** The hash of its transaction, sent or not. */
  transaction: string;
}

export function settled({ network, transaction }: Facts, payer: string): Reply {
  return { reply: json(200, { success: true, transaction, network, payer }), meaning: 'settled' };
}

export function refused(errorReason: string, status = 200): Reply {
  return { reply: json(status, { success: false, errorReason, transaction: '' }), meaning: 'refused' };
}

export function refusedDoubtfully(errorReason: string, status = 200): Reply {
  return { ...refused(errorReason, status), meaning: 'refused doubtfully' };
}

export function replyTo(mode: Exclude<SettleFaultMode, { kind: 'honest' }>, facts: Facts): Reply {
  switch (mode.kind) {
    case 'refuses':
      return refused(mode.reason, 400);
    case 'refuses doubtfully':
      return refusedDoubtfully(mode.reason);
    case 'turned away':
      return { reply: turnAway(mode.by), meaning: 'turned away' };
    case 'turned away with words': {
      const pending = { success: false, errorReason: 'settlement_pending', transaction: '' };
      const named = { success: false, errorReason: 'rate_limited', transaction: facts.transaction };
      const body = mode.words === 'pending' ? pending : named;
      return { reply: json(mode.status, body), meaning: 'unclear' };
    }
    case 'unclear':
      return unclear(mode.reply, facts);
  }
}

export function unclear(words: UnclearReply, { transaction, network }: Facts): Reply {
  const isHungUp = HUNG_UP.some((one) => one === words);
  return { reply: unclearReply(words, transaction, network), meaning: isHungUp ? 'hung up' : 'unclear' };
}

function unclearReply(words: UnclearReply, transaction: string, network: string): FacilitatorReply {
  switch (words) {
    case 'no answer in time':
      return { error: Object.assign(new Error('no answer'), { name: 'TimeoutError' }) };
    case 'connection reset':
      return { error: Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' }) };
    case 'gateway time-out':
      return { status: 504, body: '<html>' };
    case 'HTTP 500':
      return json(500, { error: 'internal' });
    case 'no JSON':
      return { status: 200, body: '<html>' };
    case 'success without a transaction':
      return json(200, { success: true, transaction: '', network });
    case 'failure with a transaction':
      return json(200, { success: false, errorReason: 'unexpected_settle_error', transaction, network });
    case 'another network':
      return json(200, { success: true, transaction, network: 'eip155:1' });
    default:
      return json(200, { success: false, errorReason: words, transaction: '', network });
  }
}

function turnAway(by: 'ECONNREFUSED' | number): FacilitatorReply {
  if (typeof by === 'number') return { status: by, body: 'Too many requests' };
  return { error: Object.assign(new Error('refused'), { code: by, syscall: 'connect' }) };
}

function json(status: number, body: object): FacilitatorReply {
  return { status, body: JSON.stringify(body) };
}
