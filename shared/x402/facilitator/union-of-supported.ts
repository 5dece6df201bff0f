import { waitAtMost } from '../../process/timeout.js';
import type { SupportedKinds } from '../requirements.js';
import type { Facilitator } from './facilitator.js';

type Listing = Pick<Facilitator, 'name' | 'supported' | 'known' | 'isSilent'>;

/** A facilitator that takes longer is not waited for while another has answered. */
const PATIENCE_MS = 1000;

/**
 * The union of several facilitators' networks. On each network the fee payers are the fee payers of facilitators that
 * answer, in their order, so that a buyer signs for a facilitator that can verify. Where no facilitator answers, they are
 * the fee payers of all that list the network. Equal unions are the same object, since offers are cached by it.
 */
export function uniteSupported(
  facilitators: readonly Listing[],
  isPassedOver: (facilitator: Listing, network: string) => boolean,
): () => Promise<SupportedKinds | undefined> {
  let last: { kinds: SupportedKinds; text: string } | undefined;

  function unite(): SupportedKinds | undefined {
    const known = facilitators.flatMap((facilitator) => {
      const kinds = facilitator.known();
      return kinds === undefined ? [] : [{ facilitator, kinds }];
    });
    if (known.length === 0) return undefined;
    const networks = new Set(known.flatMap(({ kinds }) => [...kinds.keys()]));
    const united = [...networks].map((network): [string, string[]] => {
      const listing = known.filter(({ kinds }) => kinds.has(network));
      const answering = listing.filter(({ facilitator }) => !isPassedOver(facilitator, network));
      const chosen = answering.length > 0 ? answering : listing;
      return [network, [...new Set(chosen.flatMap(({ kinds }) => kinds.get(network) ?? []))]];
    });
    const text = JSON.stringify(united);
    if (last?.text !== text) last = { kinds: new Map(united), text };
    return last.kinds;
  }

  return async () => {
    const [only, ...others] = facilitators;
    if (only !== undefined && others.length === 0) return await only.supported();
    const reads = facilitators.map(({ isSilent, supported }) => ({
      isWaitedFor: !isSilent(),
      read: supported(),
    }));
    const waitedFor = reads.filter(({ isWaitedFor }) => isWaitedFor).map(({ read }) => read);
    await waitAtMost(PATIENCE_MS, Promise.all(waitedFor));
    if (facilitators.every(({ known }) => known() === undefined))
      await firstKnown(reads.map(({ read }) => read));
    return unite();
  };
}

/** Waits until one is known, or all reads have ended. */
async function firstKnown(reads: readonly Promise<SupportedKinds | undefined>[]): Promise<void> {
  const known = reads.map(async (read) => {
    if ((await read) === undefined) throw new Error('not known');
  });
  await Promise.any(known).catch(() => undefined);
}
