import { unused } from './inputs.js';
import { type AllRules, RULES_OF_ALL } from './rules.js';
import { LONG_SCOPES, SCOPES, type Scope, WITHOUT_FAILOVER } from './scopes.js';

/** A mutant of the rules, the witness that it believes too much, and the part of the wide model that must notice. */
interface WitnessMutant {
  readonly name: string;
  readonly witness: 'facilitator' | 'endpoint' | 'verify' | 'Postgres' | 'clock' | 'operator';
  readonly scope: Scope;
  readonly rules: AllRules;
}

const { onePayment, twoPayments, refund } = SCOPES;

export const WITNESS_MUTANTS: readonly WitnessMutant[] = [
  mutant('Postgres', 'a failover is not noticed', twoPayments, { commitsMayBeLost: () => false }),
  mutant('Postgres', 'a recorded refusal is told although a forgotten call may still send it', twoPayments, {
    afterCheck: (payment, check, ...rest) =>
      RULES_OF_ALL.afterCheck(payment, { ...check, commitsMayBeLost: false }, ...rest),
  }),
  mutant(
    'Postgres',
    'a payment gives way to late money although its call may be forgotten',
    LONG_SCOPES.twoLiedAbout,
    {
      afterSuccess: (one) => RULES_OF_ALL.afterSuccess({ ...one, commitsMayBeLost: false }),
    },
  ),
  mutant('Postgres', 'a forgotten payload that is unused counts as one that was never sent', twoPayments, {
    refusalAfterCheck: (finding, saysUsed) => RULES_OF_ALL.refusalAfterCheck(finding, saysUsed, false),
  }),
  mutant('Postgres', 'a forgotten payload is refused without a chain check', twoPayments, {
    checksBeforeRefusal: () => false,
  }),
  mutant('Postgres', 'money that Postgres has forgotten is never held against the books', refund, {
    reconciles: () => false,
  }),
  mutant('Postgres', 'a forgotten refund is taken for one that was never paid', refund, {
    checksBeforeRefusal: (saysUsed) => saysUsed,
  }),
  mutant('facilitator', 'a facilitator that turns a call away is believed about a forgotten one', refund, {
    afterCall: (payment, call, ...rest) =>
      RULES_OF_ALL.afterCall(
        payment,
        call.answer.kind === 'not_processed' ? { ...call, commitsMayBeLost: false } : call,
        ...rest,
      ),
  }),
  mutant('endpoint', 'what one endpoint calls expired is not checked by another', WITHOUT_FAILOVER, {
    afterCheck: (payment, check, ...rest) => {
      const decision = RULES_OF_ALL.afterCheck(payment, check, ...rest);
      const isOver = 'exhausted' in check.finding && check.finding.exhausted;
      return isOver && decision.kind === 'fail' ? { ...decision, watchAt: undefined } : decision;
    },
  }),
  mutant('endpoint', 'a limited endpoint counts as a silent one', WITHOUT_FAILOVER, {
    afterCheck: (payment, check, ...rest) => {
      const { finding } = check;
      if (finding.kind !== 'unreadable') return RULES_OF_ALL.afterCheck(payment, check, ...rest);
      const { againInMs: _, ...silent } = finding;
      return RULES_OF_ALL.afterCheck(payment, { ...check, finding: silent }, ...rest);
    },
  }),
  mutant('endpoint', 'a late endpoint is believed that nothing can come any more', WITHOUT_FAILOVER, {
    afterCheck: (payment, check, ...rest) => {
      const { finding } = check;
      const believed = finding.kind === 'unused' ? { ...finding, exhausted: true } : finding;
      return RULES_OF_ALL.afterCheck(payment, { ...check, finding: believed }, ...rest);
    },
  }),
  mutant('verify', '/verify is believed that a payload can never be used', WITHOUT_FAILOVER, {
    afterCheck: (payment, check, ...rest) =>
      RULES_OF_ALL.afterCheck(
        payment,
        check.isValid === false ? { ...check, finding: unused(true) } : check,
        ...rest,
      ),
  }),
  mutant('clock', "Postgres' clock alone ends the wait for an authorization", WITHOUT_FAILOVER, {
    afterCheck: (payment, check, settings, { now }) =>
      RULES_OF_ALL.afterCheck(payment, check, settings, { now, own: now }),
  }),
  mutant('clock', "the process' clock alone ends the wait for an authorization", WITHOUT_FAILOVER, {
    afterCheck: (payment, check, settings, { own }) =>
      RULES_OF_ALL.afterCheck(payment, check, settings, { now: own, own }),
  }),
  mutant('clock', 'one clock is enough to refuse a payload by its window', onePayment, {
    isWindowOver: (validUntil, { now, own }) => now >= validUntil || own >= validUntil,
    checksBeforeRefusal: () => false,
  }),
  mutant('operator', 'an operator is believed without a chain check', WITHOUT_FAILOVER, {
    mayCallFailed: (payment, _finding, times) => RULES_OF_ALL.mayCallFailed(payment, unused(true), times),
  }),
  mutant('operator', 'an operator is believed while the authorization is good', WITHOUT_FAILOVER, {
    mayCallFailed: () => true,
  }),
  mutant('operator', 'the word of an operator who forces it is told as certain', WITHOUT_FAILOVER, {
    byOperator: (payment, resolution, times) =>
      RULES_OF_ALL.byOperator(payment, { ...resolution, unproven: false } as typeof resolution, times),
  }),
  mutant('operator', 'what an operator calls failed is not watched', WITHOUT_FAILOVER, {
    byOperator: (...resolution) => {
      const decision = RULES_OF_ALL.byOperator(...resolution);
      return decision.kind === 'fail' ? { ...decision, watchAt: undefined } : decision;
    },
  }),
];

function mutant(
  witness: WitnessMutant['witness'],
  name: string,
  scope: Scope,
  part: Partial<AllRules>,
): WitnessMutant {
  return { name, witness, scope, rules: { ...RULES_OF_ALL, ...part } };
}
