import type { Chains } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import type { Knex } from '../../../shared/db/knex.js';
import { now, nowMs } from '../../../shared/process/clock.js';
import type { Facilitators } from '../../../shared/x402/facilitator/facilitators.js';
import type { SettleVerdict } from '../../../shared/x402/facilitator/settle-verdict.js';

/**
 * Mutants of the service without a change of its code: a trigger changes a write to a payment's row, or an answer of the
 * facilitator or the chain is replaced. The explorer must find each of them.
 */
export interface Mutant {
  name: string;
  /** PL/pgSQL over NEW and OLD, run before each UPDATE of a payment. */
  onUpdate?: string;
  facilitators?(facilitators: Facilitators): Facilitators;
  chains?(chains: Chains): Chains;
}

const STANDS_STILL_MS = 120_000;

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a refusal is believed after a doubt',
    onUpdate: 'NEW.settle_unclear := false; NEW.reported_transaction := NULL;',
  },
  { name: 'surplus is forgotten', onUpdate: 'NEW.surplus := false;' },
  {
    name: 'a chain check counts before the end of the call',
    onUpdate: `NEW.settle_ended_at := NEW.settle_ended_at - interval '60 s';`,
  },
  {
    name: 'a failed payment is not watched',
    onUpdate: `IF NEW.status = 'failed' THEN NEW.stage := NULL; NEW.due_at := NULL; END IF;`,
  },
  {
    name: 'used by an unknown transaction counts as unreadable',
    chains: seeing((finding) =>
      finding.kind === 'used' ? { kind: 'unreadable', reason: finding.reason } : finding,
    ),
  },
  {
    name: 'an incomplete search counts as unused',
    chains: seeing((finding, { validBefore }) =>
      finding.kind === 'searching'
        ? { kind: 'unused', chainTime: now(), exhausted: nowMs() > Number(validBefore) * 1000 }
        : finding,
    ),
  },
  {
    name: 'a halted chain counts as a silent one',
    chains: seeing((finding) =>
      'chainTime' in finding && nowMs() - finding.chainTime.getTime() > STANDS_STILL_MS
        ? { kind: 'unreadable', reason: 'it stands still' }
        : finding,
    ),
  },
  {
    name: 'a refusal that a used authorization also gets is believed without a chain check',
    facilitators: answering((verdict) =>
      verdict.kind === 'rejected' ? { ...verdict, mayMeanUsed: false } : verdict,
    ),
  },
  {
    name: 'the first of two chain checks is never reset',
    onUpdate: 'NEW.unused_seen_at := coalesce(NEW.unused_seen_at, OLD.unused_seen_at);',
  },
  {
    name: 'a stalled worker may still write',
    onUpdate: 'NEW.attempt := OLD.attempt;',
  },
  {
    name: 'an answer of 5xx counts as not processed',
    facilitators: answering((verdict) => {
      const isServerError = verdict.kind === 'unknown' && verdict.why.startsWith('HTTP 5');
      return isServerError ? { kind: 'not_processed', why: verdict.why } : verdict;
    }),
  },
  {
    name: 'an answer that is not the facilitator’s own ends its call',
    facilitators: answering((verdict) =>
      verdict.kind === 'unknown' ? { ...verdict, mayStillRun: false } : verdict,
    ),
  },
  {
    name: 'a payment whose outcome is unknown is said to have failed for certain',
    onUpdate: `IF NEW.failure_code = 'outcome_unknown' THEN NEW.failure_code := 'unexpected_settle_error'; END IF;`,
  },
];

function answering(
  change: (verdict: SettleVerdict) => SettleVerdict,
): (facilitators: Facilitators) => Facilitators {
  return (facilitators) => ({
    ...facilitators,
    settleBy: async (...call) => change(await facilitators.settleBy(...call)),
  });
}

function seeing(
  change: (finding: ChainFinding, query: EvmPaymentQuery) => ChainFinding,
): (chains: Chains) => Chains {
  return (chains) => ({
    ...chains,
    async check(query, options) {
      const finding = await chains.check(query, options);
      return query.family === 'evm' ? change(finding, query) : finding;
    },
  });
}

export async function applyMutant(db: Knex, { onUpdate }: Mutant): Promise<void> {
  if (onUpdate === undefined) return;
  await db.raw(`
    CREATE FUNCTION mutant() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${onUpdate} RETURN NEW; END $$;
    CREATE TRIGGER mutant BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION mutant();`);
}

export async function removeMutants(db: Knex): Promise<void> {
  await db.raw('DROP TRIGGER IF EXISTS mutant ON payments; DROP FUNCTION IF EXISTS mutant();');
}
