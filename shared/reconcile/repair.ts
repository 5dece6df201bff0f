import type { PaymentQuery } from '../chains/chains.js';
import type { Arrival } from '../chains/check/arrival.js';
import { findToken } from '../chains/networks/networks.js';
import type { Proof } from '../settlement/policy/decision.js';
import { describeFinding } from '../settlement/policy/describe-finding.js';
import { type FoundPayment, recordFound, recordLate } from '../settlement/record-found.js';
import { unixSeconds } from '../wire/timestamp.js';
import type { PaymentRequirements } from '../x402/wire.js';
import { keyOf } from './books.js';
import type { Judgement } from './judge-arrival.js';
import type { Line } from './line.js';
import type { NetworkRun } from './run.js';

const PROVE_WITHIN_MS = 30_000;

type Recordable = Extract<Judgement, { kind: 'recordable' }>;

/**
 * Records money that no payment has, once the chain has proven it again. Returns the line of the report, or `taken` when a
 * payment has it by now: another command, or a claim, was faster. A transfer that is not proven is unread, and the next repair
 * tries it again.
 */
export async function repair(
  { run, deps, confirmations }: NetworkRun,
  arrival: Arrival,
  { line, as }: Recordable,
): Promise<Line | 'taken'> {
  const proof = await prove(deps, arrival, confirmations);
  if (typeof proof === 'string') {
    const { network, transaction } = arrival;
    run.summary.unread.push({ network, transaction, reason: proof });
    return { ...line, obstacle: 'not_proven' };
  }
  const recorded =
    'paymentId' in as
      ? await recordLate(deps, as.paymentId, proof)
      : await recordFound(deps, foundPayment(arrival, as.payable.id, deps), proof);
  if (recorded.kind === 'taken') return 'taken';
  if (recorded.kind !== 'recorded')
    return { ...line, obstacle: recorded.kind === 'proof_taken' ? 'proof_taken' : 'session_gone' };
  const { paymentId } = recorded;
  run.seen.add(paymentId);
  const { payableId: session, network, transaction } = line;
  deps.logger.warn({ event: 'reconcile.repaired', payment: paymentId, session, network, transaction });
  return { ...line, paymentId, repaired: true };
}

/** Proves the transfer by the chain check that also decides payments. Returns the reason when there is no proof. */
async function prove(
  { chains }: NetworkRun['deps'],
  arrival: Arrival,
  confirmations: number,
): Promise<Proof | string> {
  const query = queryOf(arrival);
  if (query === undefined) return 'the endpoint gives no time for the transfer';
  const finding = await chains.check(query, { withinMs: PROVE_WITHIN_MS, inBackground: true });
  if (finding.kind !== 'paid') return describeFinding(finding);
  if (finding.confirmations < confirmations) return 'the transfer has too few confirmations at the endpoint';
  const { transaction, proofIndex, payer } = finding;
  return { transaction, proofIndex, payer };
}

function queryOf({
  network,
  asset,
  payTo,
  amount,
  transaction,
  payload,
  at,
}: Arrival): PaymentQuery | undefined {
  const token = findToken(network, asset);
  if (payload === undefined || token === undefined || at === undefined) return undefined;
  const shared = { network, payTo, amount, notBefore: at, transactionHint: transaction };
  if (payload.family === 'evm') {
    const { from, nonce } = payload;
    return { family: 'evm', ...shared, asset, from, nonce, validBefore: endOf(at) };
  }
  if (token.family !== 'svm') return undefined;
  const signedTransaction = payload.transactionBase64;
  return { family: 'svm', ...shared, mint: asset, tokenProgram: token.program, signedTransaction };
}

/** The authorization's own end is not on the chain; it was used before it. */
function endOf(at: Date): bigint {
  return BigInt(unixSeconds(at));
}

function foundPayment(
  arrival: Arrival,
  payableId: string,
  { references }: Pick<NetworkRun['deps'], 'references'>,
): FoundPayment {
  const { network, asset, payTo, payer, amount, at, payload } = arrival;
  const token = findToken(network, asset);
  const payloadKey = keyOf(arrival);
  if (token === undefined || payloadKey === undefined || at === undefined || payload === undefined)
    throw new Error('the transfer was not judged recordable');
  const isAgents = arrival.references.some((reference) => references.read(reference)?.isFixed);
  const requirements: PaymentRequirements = {
    scheme: 'exact',
    network,
    amount: String(amount),
    asset,
    payTo,
    maxTimeoutSeconds: 0,
    extra: token.family === 'evm' ? { ...token.domain } : { feePayer: '' },
  };
  return {
    payableId,
    payloadKey,
    token: token.symbol,
    tokenAmount: String(amount),
    tokenDecimals: token.decimals,
    network,
    asset,
    payer,
    payTo,
    channel: isAgents ? 'x402' : 'page',
    requirements,
    payload:
      payload.family === 'svm'
        ? { transaction: payload.transactionBase64 }
        : {
            signature: '0x',
            authorization: {
              from: payload.from,
              to: payTo,
              value: String(amount),
              validAfter: '0',
              validBefore: String(endOf(at)),
              nonce: payload.nonce,
            },
          },
    arrivedAt: at,
  };
}
