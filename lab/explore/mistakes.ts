import type { Chains } from '../../shared/chains/confirmation.js';
import type { EvmPaymentQuery } from '../../shared/chains/evm.js';
import type { ChainFinding } from '../../shared/chains/finding.js';
import type { Knex } from '../../shared/db/knex.js';
import { now, nowMs } from '../../shared/process/clock.js';
import type { Facilitator } from '../../shared/x402/facilitator.js';

/**
 * Mistakes that someone might make, without a change of the code: Postgres writes a payment's row otherwise than it was
 * told to, or what the facilitator or the chain said is taken for something else. Each must be found.
 */
export interface Mistake {
  name: string;
  /** PL/pgSQL over NEW and OLD, before each UPDATE of a payment. */
  onUpdate?: string;
  facilitator?(facilitator: Facilitator): Facilitator;
  chains?(chains: Chains): Chains;
}

const STANDS_STILL_MS = 120_000;

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'a refusal is believed after a doubt',
    onUpdate: 'NEW.settle_unclear := false; NEW.reported_transaction := NULL;',
  },
  { name: 'surplus is forgotten', onUpdate: 'NEW.surplus := false;' },
  {
    name: 'a look counts before the end of the call',
    onUpdate: `NEW.settle_ended_at := NEW.settle_ended_at - interval '60 s';`,
  },
  {
    name: 'a failed payment is not watched',
    onUpdate: `IF NEW.status = 'failed' THEN NEW.stage := NULL; NEW.due_at := NULL; END IF;`,
  },
  {
    name: 'used, by whom is not known, counts as unreadable',
    chains: seeing((finding) =>
      finding.kind === 'used' ? { kind: 'unreadable', reason: finding.reason } : finding,
    ),
  },
  {
    name: 'a search that was cut short counts as unused',
    chains: seeing((finding, { validBefore }) =>
      finding.kind === 'searching'
        ? { kind: 'unused', chainTime: now(), exhausted: nowMs() > Number(validBefore) * 1000 }
        : finding,
    ),
  },
  {
    name: 'a head that stands still counts as silence',
    chains: seeing((finding) =>
      'chainTime' in finding && nowMs() - finding.chainTime.getTime() > STANDS_STILL_MS
        ? { kind: 'unreadable', reason: 'it stands still' }
        : finding,
    ),
  },
  {
    name: 'a refusal that a used authorization gets too is believed unseen',
    chains: (chains) => ({
      ...chains,
      lookUp: async (query, options) =>
        options?.withinMs === undefined
          ? await chains.lookUp(query, options)
          : { kind: 'unreadable', reason: 'not asked' },
    }),
  },
  {
    name: 'the first of two looks is never forgotten',
    onUpdate: 'NEW.unused_seen_at := coalesce(NEW.unused_seen_at, OLD.unused_seen_at);',
  },
  {
    name: 'a stalled worker may still write',
    onUpdate: 'NEW.attempt := OLD.attempt;',
  },
  {
    name: 'an answer of 5xx counts as not processed',
    facilitator: (facilitator) => ({
      ...facilitator,
      async settle(payment) {
        const verdict = await facilitator.settle(payment);
        const isServerError = verdict.kind === 'unknown' && verdict.why.startsWith('HTTP 5');
        return isServerError ? { kind: 'not_processed', why: verdict.why } : verdict;
      },
    }),
  },
];

function seeing(
  change: (finding: ChainFinding, query: EvmPaymentQuery) => ChainFinding,
): (chains: Chains) => Chains {
  return (chains) => ({
    ...chains,
    async lookUp(query, options) {
      const finding = await chains.lookUp(query, options);
      return query.family === 'evm' ? change(finding, query) : finding;
    },
  });
}

export async function plant(db: Knex, { onUpdate }: Mistake): Promise<void> {
  if (onUpdate === undefined) return;
  await db.raw(`
    CREATE FUNCTION mistake() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${onUpdate} RETURN NEW; END $$;
    CREATE TRIGGER mistake BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION mistake();`);
}

export async function uproot(db: Knex): Promise<void> {
  await db.raw('DROP TRIGGER IF EXISTS mistake ON payments; DROP FUNCTION IF EXISTS mistake();');
}
