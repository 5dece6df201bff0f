import { LRUCache } from 'lru-cache';
import {
  IMAGE_BYTES_IN_FLIGHT,
  IMAGE_BYTES_IN_FLIGHT_PER_ACCOUNT,
  IMAGE_BYTES_KEPT,
  IMAGE_BYTES_SENT,
  IMAGE_BYTES_SENT_TO_ADDRESS,
} from '../../shared/limits/bounds.js';
import { nowMs } from '../../shared/process/clock.js';
import { parseUrl } from '../../shared/values/parse-url.js';
import { openByteBudget } from '../limits/byte-budget.js';
import { type Image, openImageDownloader } from './download-image.js';
import { FetchPlaces } from './fetch-places.js';
import { ImagesBusy } from './read-image-body.js';

/**
 * Fetches merchants' images for their pages, so that buyers' browsers ask nobody but us. What was fetched, or could not
 * be, is remembered for a while. Callers pass stored URLs only. All that it holds, on its way to us, remembered, and on its
 * way to buyers, is bounded together.
 */
export interface ImageProxy {
  /** Undefined when there is no usable image at this address; busy when that is not to be known now. */
  fetch(asked: AskedImage): Promise<Image | undefined | 'busy'>;
  /** To be called before it is sent to that address; how to end that, or undefined when too much is being sent. */
  hold(image: Image, address: string): (() => void) | undefined;
  close(): Promise<void>;
}

export interface AskedImage {
  url: string;
  /** Whose image it is. */
  accountId: string;
}

/** What an entry takes beside its image and its address. */
const ENTRY_BYTES = 512;
const FOUND_MS = 3_600_000;
const MISSING_MS = 60_000;
/** For a place to fetch it from; as long as fetching may take. */
const WAIT_MS = 5000;

export function createImageProxy(rules: { allowPrivateNetworks: boolean }): ImageProxy {
  const underWayBytes = openByteBudget({
    total: IMAGE_BYTES_IN_FLIGHT,
    perHolder: IMAGE_BYTES_IN_FLIGHT_PER_ACCOUNT,
  });
  const { download, close } = openImageDownloader(rules, underWayBytes);
  const places = new FetchPlaces();
  const remembered = new LRUCache<string, { image: Image | undefined }>({
    maxSize: IMAGE_BYTES_KEPT,
    sizeCalculation: ({ image }, url) => (image?.bytes.length ?? 0) + 2 * url.length + ENTRY_BYTES,
    perf: { now: nowMs },
  });
  const inFlight = new Map<string, Promise<Image | undefined | 'busy'>>();

  async function fetchNow({ url, accountId }: AskedImage): Promise<Image | undefined | 'busy'> {
    const release = await places.take({ accountId, host: parseUrl(url)?.host ?? '' }, WAIT_MS);
    if (release === undefined) return 'busy';
    try {
      const image = await download(url, accountId);
      remember(url, image);
      return image;
    } catch (error) {
      if (error instanceof ImagesBusy) return 'busy';
      remember(url, undefined);
      return undefined;
    } finally {
      release();
    }
  }

  function remember(url: string, image: Image | undefined): void {
    remembered.set(url, { image }, { ttl: image === undefined ? MISSING_MS : FOUND_MS });
  }

  return {
    async fetch(asked) {
      const { url } = asked;
      const known = remembered.get(url);
      if (known !== undefined) return known.image;
      const fetching = inFlight.get(url) ?? fetchNow(asked).finally(() => inFlight.delete(url));
      inFlight.set(url, fetching);
      return await fetching;
    },
    hold: sendingBudget(),
    close,
  };
}

/** One image that many are sent takes its bytes once; each address has a share for itself. */
function sendingBudget(): ImageProxy['hold'] {
  const all = openByteBudget({ total: IMAGE_BYTES_SENT, perHolder: IMAGE_BYTES_SENT });
  const shares = openByteBudget({
    total: Number.POSITIVE_INFINITY,
    perHolder: IMAGE_BYTES_SENT_TO_ADDRESS,
  });
  const sent = new Map<Image, { times: number; release(): void }>();
  return (image, address) => {
    const endShare = shares.take(address, image.bytes.length);
    if (endShare === undefined) return undefined;
    const release = sent.get(image)?.release ?? all.take('images', image.bytes.length);
    if (release === undefined) {
      endShare();
      return undefined;
    }
    const sending = sent.get(image) ?? { times: 0, release };
    sending.times += 1;
    sent.set(image, sending);
    return () => {
      endShare();
      sending.times -= 1;
      if (sending.times > 0) return;
      sent.delete(image);
      sending.release();
    };
  };
}
