import type { LinkAnswer } from '../../../api/payment-link/link-answer.js';
import type { LinkDeps } from '../../../api/payment-link/link-deps.js';
import { pay } from '../../../api/payment-link/pay.js';
import { viewLink } from '../../../api/payment-link/view-link.js';
import { nowMs } from '../../../shared/process/clock.js';
import { findLinkedPayable, type LinkedPayable } from '../../../shared/settlement/read-link.js';
import type { WellFormedHeader } from '../../../shared/x402/headers.js';
import type { VerifyFaultMode } from '../steps/steps.js';
import { verifierOf } from '../world/facilitator.js';
import { nonceOf, observe, type Payload, sign, type World } from '../world/world.js';

type Answer = (deps: LinkDeps, session: LinkedPayable) => Promise<LinkAnswer>;

interface During {
  verify: VerifyFaultMode;
  /** Runs while the request waits for the outcome. */
  meanwhile(): Promise<void>;
}

/** The link's answer to an agent, before it is written as HTTP. */
export async function payLink(
  world: World,
  sessionId: string,
  payload: Payload,
  during: During,
): Promise<void> {
  const { identifier } = payload;
  const header: WellFormedHeader = {
    kind: 'v2',
    accepted: { ...world.system.accepted },
    payload: { ...sign(world, payload) },
    ...(identifier !== undefined && { identifier }),
  };
  const answer = await visit(world, sessionId, during, (deps, session) =>
    pay(deps, session, { header, channel: 'x402', arrivedAtMs: nowMs(), requestId: 'req_explored' }),
  );
  await observe(world, undefined);
  recordAnswer(world, sessionId, payload.nonce, answer);
}

export async function askLink(world: World, sessionId: string): Promise<void> {
  const answer = await visit(world, sessionId, { verify: 'honest', meanwhile: async () => {} }, viewLink);
  const payers = world.payments.filter(({ payableId }) => payableId === sessionId);
  for (const nonce of new Set(payers.map(nonceOf))) recordAnswer(world, sessionId, nonce, answer);
}

async function visit(
  world: World,
  sessionId: string,
  { verify, meanwhile }: During,
  answer: Answer,
): Promise<LinkAnswer> {
  const { web } = world.system;
  const session = await findLinkedPayable(web.db, sessionId);
  if (session === undefined) throw new Error(`${sessionId} is gone`);
  const deps = {
    ...web,
    facilitators: verifierOf(world, verify),
    notifySettlement: () => {},
    settlements: { wait: meanwhile, close: () => {} },
  };
  return await answer(deps, session);
}

/** Records a refusal or a success, to be compared with the movements of money. */
function recordAnswer(world: World, sessionId: string, nonce: string, answer: LinkAnswer): void {
  const { chain, journal } = world;
  const own = world.payments.filter(
    (payment) => payment.payableId === sessionId && nonceOf(payment) === nonce,
  );
  const words = describeAnswer(answer);
  world.linkAnswers.set(words, (world.linkAnswers.get(words) ?? 0) + 1);
  if (answer.kind === 'paid') {
    const isTrue = chain.movements().some(({ transaction }) => transaction === answer.receipt.transaction);
    if (!isTrue) journal.violations.push(`a buyer was told 200 for ${answer.receipt.transaction}`);
  }
  if (isDenial(answer)) {
    journal.denials.push({ nonce, words, atMs: nowMs(), paymentIds: own.map(({ id }) => id) });
  }
}

function describeAnswer(answer: LinkAnswer): string {
  switch (answer.kind) {
    case 'paid':
      return '200';
    case 'processing':
      return `${answer.status} processing`;
    case 'payment_required':
      return `402 ${answer.required.code ?? ''}`.trim();
    case 'error':
      return answer.error.code;
  }
}

function isDenial(answer: LinkAnswer): boolean {
  if (answer.kind === 'error') return answer.error.code !== 'session_already_paid';
  return answer.kind === 'payment_required';
}
