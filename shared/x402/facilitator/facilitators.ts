import type { FacilitatorConfig } from '../../config/read-facilitators.js';
import { lruCache } from '../../limits/lru-cache.js';
import type { Logger } from '../../process/logger.js';
import type { SupportedKinds } from '../requirements.js';
import type { FacilitatorRequest } from '../wire.js';
import { createFacilitator, type Facilitator, LEAST_CALL_MS } from './facilitator.js';
import type { VerifyVerdict } from './facilitator-answers.js';
import type { SettleVerdict } from './settle-verdict.js';
import { openUnavailableFacilitators, type UnavailableFacilitators } from './unavailable-facilitators.js';
import { uniteSupported } from './union-of-supported.js';
import { isDisowning, type Verified, verifyInTurn } from './verify-in-turn.js';

/**
 * Several facilitators, in the order of preference. A payment belongs to the facilitator whose `/verify` it passed, and a
 * Solana payment to the facilitator that its fee payer came from. Calls never throw.
 */
export interface Facilitators {
  /** The union of their supported kinds. Undefined when none answers and no usable copy is left. */
  supported(): Promise<SupportedKinds | undefined>;
  /** Waits for every facilitator. Undefined when one of them does not answer and has no usable copy. */
  supportedByAll(): Promise<SupportedKinds | undefined>;
  /** Asks the first that serves the payment and answers. `usefulForMs`: how long the caller can use an answer. */
  verify(payment: FacilitatorRequest, usefulForMs?: number): Promise<Verified>;
  /** Asks the facilitator that the payment belongs to; null, in rows of an earlier release, is the first. */
  verifyBy(name: string | null, payment: FacilitatorRequest): Promise<VerifyVerdict>;
  settleBy(
    name: string | null,
    payment: FacilitatorRequest,
    mayBeSent?: () => boolean,
  ): Promise<SettleVerdict>;
  /** Another facilitator that serves the payment and answers, for a payment that surely was not sent. */
  another(name: string | null, payment: FacilitatorRequest): Promise<string | undefined>;
  nameOf(name: string | null): string;
  states(): FacilitatorState[];
  close(): Promise<void>;
}

interface FacilitatorState extends Pick<Facilitator, 'name' | 'refusals'> {
  isSilent: boolean;
}

interface FacilitatorsOptions {
  /** Milliseconds for all `/verify` calls of one payment together. */
  timeoutMs: number;
  logger?: Logger | undefined;
}

/** Fee payers to remember, some 200 bytes each. A facilitator has a few. */
const MAX_FEE_PAYERS_KEPT = 1000;
/** Every buyer who got an offer after this time, and before the next refusal, meets that refusal again. */
const DISOWNS_FOR_MS = 60_000;

export function uniteFacilitators(
  all: readonly Facilitator[],
  { timeoutMs, logger }: FacilitatorsOptions,
): Facilitators {
  const unavailable = openUnavailableFacilitators();
  /** Fee payers that a facilitator has listed: a buyer may have signed for a fee payer that is listed no more. */
  const listed = lruCache<Facilitator>(MAX_FEE_PAYERS_KEPT);
  const isPassedOver = (
    { name, isSilent }: Pick<Facilitator, 'name' | 'isSilent'>,
    network: string,
  ): boolean => isSilent() || unavailable.isUnavailable(name, network);
  const unite = uniteSupported(all, isPassedOver);
  const [first] = all;
  /** A payment's row may have the name that other settings gave its facilitator. */
  const find = (name: string | null): Facilitator | undefined =>
    name === null
      ? first
      : (all.find((one) => one.name === name) ?? all.find(({ names }) => names.includes(name)));

  function rememberFeePayers(): void {
    for (const one of all)
      for (const feePayer of [...(one.known()?.values() ?? [])].flat())
        if (!listed.has(feePayer)) listed.set(feePayer, one);
  }

  /** The facilitators that serve the payment, in the order in which they are asked. */
  function serving({ paymentRequirements: { network, extra } }: FacilitatorRequest): Facilitator[] {
    const onNetwork = all.filter(({ known }) => known()?.has(network));
    const able = 'feePayer' in extra ? ownersOf(network, extra.feePayer, onNetwork) : onNetwork;
    const asked = able.length > 0 ? able : [...all];
    return [
      ...asked.filter((one) => !isPassedOver(one, network)),
      ...asked.filter((one) => isPassedOver(one, network)),
    ];
  }

  function ownersOf(network: string, feePayer: string, onNetwork: readonly Facilitator[]): Facilitator[] {
    const owners = onNetwork.filter(({ known }) => known()?.get(network)?.includes(feePayer));
    if (owners.length > 0) return owners;
    const former = listed.get(feePayer);
    if (former !== undefined) return [former];
    // The entry was offered before this process began, by a facilitator whose list is not known here or that has another fee
    // payer now: `/verify` tells.
    return all.filter(({ known }) => known()?.has(network) ?? true);
  }

  return {
    async supported() {
      const kinds = await unite();
      rememberFeePayers();
      return kinds;
    },
    async supportedByAll() {
      const answers = await Promise.all(all.map((one) => one.supported()));
      return answers.includes(undefined) ? undefined : await unite();
    },
    async verify(payment, usefulForMs) {
      if (first !== undefined && all.length === 1)
        return { ...(await first.verify(payment, usefulForMs)), facilitator: first.name };
      const withinMs = Math.max(LEAST_CALL_MS, Math.min(timeoutMs, usefulForMs ?? timeoutMs));
      const verified = await verifyInTurn(serving(payment), { payment, withinMs }, { unavailable, logger });
      passOverIfDisowned(all, { payment, verified }, { unavailable, logger });
      return verified;
    },
    async verifyBy(name, payment) {
      const one = find(name);
      return (await one?.verify(payment)) ?? { kind: 'unavailable', why: notConfigured(name) };
    },
    async settleBy(name, payment, mayBeSent) {
      const one = find(name);
      if (one === undefined) return { kind: 'not_processed', why: notConfigured(name), isUnsent: true };
      const answer = await one.settle(payment, mayBeSent);
      if (answer.kind === 'not_processed' && answer.isUnsent)
        unavailable.note(one.name, payment.paymentRequirements.network);
      return answer;
    },
    async another(name, payment) {
      if (all.every((one) => one === find(name))) return undefined;
      await unite();
      rememberFeePayers();
      const { network, extra } = payment.paymentRequirements;
      return serving(payment).find(
        (one) =>
          one !== find(name) &&
          one.known()?.has(network) &&
          !isPassedOver(one, network) &&
          (!('feePayer' in extra) || one.known()?.get(network)?.includes(extra.feePayer)),
      )?.name;
    },
    nameOf: (name) => find(name)?.name ?? name ?? '',
    states: () => all.map(({ name, refusals, isSilent }) => ({ name, refusals, isSilent: isSilent() })),
    async close() {
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

/** Opens the facilitators of a process that needs no share of their limits. */
export function openUnlimitedFacilitators(
  configs: readonly FacilitatorConfig[],
  logger?: Logger,
): Facilitators {
  const options = { ...(logger && { logger }), hasOthers: configs.length > 1 };
  const all = configs.map((config) => createFacilitator(config, options));
  return uniteFacilitators(all, { timeoutMs: configs[0]?.timeoutMs ?? 0, logger });
}

/** A facilitator that disowns a fee payer of its own list takes no payment for which that list has named it. */
function passOverIfDisowned(
  all: readonly Facilitator[],
  { payment, verified }: { payment: FacilitatorRequest; verified: Verified },
  { unavailable, logger }: { unavailable: UnavailableFacilitators; logger: Logger | undefined },
): void {
  if (!isDisowning(verified)) return;
  const { network, extra } = payment.paymentRequirements;
  for (const { name, known } of all) {
    if (!('feePayer' in extra && known()?.get(network)?.includes(extra.feePayer))) continue;
    unavailable.note(name, network, DISOWNS_FOR_MS);
    logger?.warn({ event: 'facilitator.passed_over', facilitator: name, network, why: verified.reason });
  }
}

function notConfigured(name: string | null): string {
  return `${name ?? 'the facilitator'} is not configured`;
}
