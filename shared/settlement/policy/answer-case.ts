import type { SettleVerdict } from '../../x402/facilitator/settle-verdict.js';
import type { Decision } from './decision.js';
import type { Condition, Rows } from './decision-table.js';
import type { CalledPayment, Settings, Times } from './payment-state.js';

/** One call of `/settle` with its answer. */
export interface Call<Answer extends SettleVerdict = SettleVerdict> {
  answer: Answer;
  startedAt: Date;
  endedAt: Date;
  /** Postgres may have forgotten an earlier call for the same payload. */
  commitsMayBeLost: boolean;
  /** Another facilitator that may be asked in place of this one, when the call was surely not sent. */
  another?: string | undefined;
}

/** A call, with everything that decides about it. */
export interface AnswerCase<Answer extends SettleVerdict = SettleVerdict> extends Call<Answer> {
  payment: CalledPayment;
  settings: Settings;
  times: Times;
}

export type Answer<Kind extends SettleVerdict['kind']> = Extract<SettleVerdict, { kind: Kind }>;

export type AnswerCondition<Kind extends SettleVerdict['kind'] = SettleVerdict['kind']> = Condition<
  AnswerCase<Answer<Kind>>
>;

export type AnswerTable = {
  readonly [Kind in SettleVerdict['kind']]: Rows<AnswerCase<Answer<Kind>>, Decision>;
};
