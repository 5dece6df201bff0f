import { nowMs } from '../../../shared/process/clock.js';
import { readSettleAnswer, readVerifyAnswer } from '../../../shared/x402/facilitator/facilitator-answers.js';
import type { Facilitators } from '../../../shared/x402/facilitator/facilitators.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import type { SettleFaultMode, VerifyFaultMode, Work } from '../steps/steps.js';
import { NETWORK, supported } from '../system/system.js';
import type { Call, Run } from './journal.js';
import { type Reply, refused, refusedDoubtfully, replyTo, settled, unclear } from './reply.js';
import { passUntil } from './time.js';
import { randomHex, type World } from './world.js';

/** Hooks during a call. */
interface CallHooks {
  meanwhile(): Promise<void>;
  /** The process may be killed instead of receiving the answer. */
  onAnswer(): void;
}

const CALL_MS = 2500;

const NAME = 'the-facilitator.example';
/** The only facilitator. */
const ONLY_FACILITATOR = {
  supported,
  supportedByAll: supported,
  another: async () => undefined,
  nameOf: () => NAME,
  states: () => [],
  close: async () => undefined,
};

/** The facilitator as a worker sees it in one run. */
export function facilitatorsOf(
  world: World,
  run: Run,
  work: Work,
  { meanwhile, onAnswer }: CallHooks,
): Facilitators {
  const { settleTimeoutMs } = world.system.config(0);
  return {
    ...ONLY_FACILITATOR,
    verify: async (request) => ({ ...verify(world, request, work.verify), facilitator: NAME }),
    verifyBy: async (_name, request) => verify(world, request, work.verify),
    async settleBy(_name, request) {
      const { nonce, validBeforeSeconds, from } = authorizationOf(request);
      const call = world.journal.beginCall(run, nonce, nowMs(), settleTimeoutMs);
      const transaction = randomHex(32);
      const wasUnused = world.chain.used(nonce) === undefined;
      send(world, call, work.settle, { transaction, validBeforeSeconds });
      await meanwhile();
      passUntil(call.startedMs + (hangsUp(work.settle) ? settleTimeoutMs : CALL_MS));
      onAnswer();
      const { reply, meaning } =
        work.settle.kind === 'honest'
          ? honestReply(world, { nonce, from, validBeforeSeconds, transaction, wasUnused })
          : replyTo(work.settle, { network: NETWORK, transaction });
      if (meaning !== 'hung up') call.overMs = Math.min(call.overMs, nowMs());
      call.meaning = meaning;
      return readSettleAnswer(reply, NETWORK);
    },
  };
}

/** The facilitator as a web process sees it. */
export function verifierOf(world: World, mode: VerifyFaultMode): Facilitators {
  return {
    ...ONLY_FACILITATOR,
    verify: async (request) => ({ ...verify(world, request, mode), facilitator: NAME }),
    verifyBy: async (_name, request) => verify(world, request, mode),
    settleBy: () => Promise.reject(new Error('a web process settles nothing')),
  };
}

function verify(
  { chain }: World,
  request: FacilitatorRequest,
  mode: VerifyFaultMode,
): ReturnType<typeof readVerifyAnswer> {
  const { nonce, from, validBeforeSeconds } = authorizationOf(request);
  if (mode === 'down') return readVerifyAnswer({ status: 503, body: '' });
  const isOver = chain.used(nonce) !== undefined || chain.head() >= validBeforeSeconds;
  const isValid = mode === 'says valid' || (mode === 'honest' && !isOver);
  const answer = isValid
    ? { isValid: true, payer: from }
    : {
        isValid: false,
        invalidReason: mode === 'refuses' ? 'insufficient_funds' : 'invalid_transaction_state',
      };
  return readVerifyAnswer({ status: 200, body: JSON.stringify(answer) });
}

function send(
  { chain }: World,
  { nonce, paymentId, startedMs }: Call,
  mode: SettleFaultMode,
  about: { transaction: string; validBeforeSeconds: number },
): void {
  const effect =
    mode.kind === 'honest'
      ? { sends: true, afterSeconds: 0 }
      : 'effect' in mode
        ? mode.effect
        : { sends: false };
  if (!effect.sends || !('afterSeconds' in effect)) return;
  chain.send({ kind: 'pays', nonce, paymentId, ...about, atMs: startedMs + effect.afterSeconds * 1000 });
}

interface Honest {
  nonce: string;
  from: string;
  validBeforeSeconds: number;
  transaction: string;
  /** The authorization was unused when the call arrived. */
  wasUnused: boolean;
}

function honestReply({ chain }: World, { nonce, from, transaction, ...was }: Honest): Reply {
  const facts = { network: NETWORK, transaction };
  if (chain.used(nonce)?.transaction === transaction) return settled(facts, from);
  if (!was.wasUnused || chain.used(nonce) !== undefined)
    return refusedDoubtfully('invalid_transaction_state');
  if (chain.isPending(nonce)) return unclear('no answer in time', facts);
  return refused('invalid_exact_evm_payload_authorization_valid_before');
}

function hangsUp(mode: SettleFaultMode): boolean {
  return mode.kind === 'unclear' && mode.reply === 'no answer in time';
}

function authorizationOf({ paymentPayload: { payload } }: FacilitatorRequest): {
  nonce: string;
  from: string;
  validBeforeSeconds: number;
} {
  if (!('authorization' in payload)) throw new Error('not an EVM payment');
  const { nonce, from, validBefore } = payload.authorization;
  return { nonce, from, validBeforeSeconds: Number(validBefore) };
}
