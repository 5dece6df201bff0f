import { LRUCache } from 'lru-cache';
import {
  IMAGE_BYTES_IN_FLIGHT,
  IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT,
  IMAGE_BYTES_KEPT,
  IMAGE_BYTES_SENT,
  IMAGE_BYTES_SENT_OF_ACCOUNT,
  IMAGE_BYTES_SENT_TO_ADDRESS,
} from '../../shared/limits/bounds.js';
import { LEAVE_HALF, openBudget, type Release } from '../../shared/limits/budget.js';
import { nowMs } from '../../shared/process/clock.js';
import { parseUrl } from '../../shared/values/parse-url.js';
import { type Image, openImageDownloader } from './download-image.js';
import { openFetchSlots } from './fetch-slots.js';
import { ImagesBusy } from './read-image-body.js';

/**
 * Fetches merchants' images for their pages, so that buyers' browsers contact no other server. Images, and failures to get
 * one, are cached for a while. Callers pass stored URLs only. The bytes of images that are being downloaded, cached and
 * being sent are bounded, each by a limit of its own.
 */
export interface ImageProxy {
  /** Undefined when there is no usable image at this address; busy when too many are being fetched to tell. */
  fetch(wanted: WantedImage): Promise<Image | undefined | 'busy'>;
  /** Takes the bytes of the account's image that is sent to this address; undefined when too much is being sent. */
  takeToSend(image: Image, accountId: string, address: string): Release | undefined;
  close(): Promise<void>;
}

interface WantedImage {
  url: string;
  accountId: string;
}

/** Memory of a cache entry beside its image and its address. */
const ENTRY_BYTES = 512;
const FOUND_MS = 3_600_000;
const MISSING_MS = 60_000;
/** How long a fetch waits for a slot: as long as fetching may take. */
const WAIT_MS = 5000;

export function createImageProxy(rules: { allowPrivateNetworks: boolean }): ImageProxy {
  const bytesInFlight = openBudget({
    total: IMAGE_BYTES_IN_FLIGHT,
    perHolder: [IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT],
    dynamicThreshold: LEAVE_HALF,
  });
  const { download, close } = openImageDownloader(rules, bytesInFlight);
  const slots = openFetchSlots();
  const remembered = new LRUCache<string, { image: Image | undefined }>({
    maxSize: IMAGE_BYTES_KEPT,
    sizeCalculation: ({ image }, url) => (image?.bytes.length ?? 0) + 2 * url.length + ENTRY_BYTES,
    perf: { now: nowMs },
  });
  const fetches = new Map<string, Promise<Image | undefined | 'busy'>>();

  async function fetchNow({ url, accountId }: WantedImage): Promise<Image | undefined | 'busy'> {
    const release = await slots.take(WAIT_MS, accountId, parseUrl(url)?.host ?? '');
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
    async fetch(wanted) {
      const { url } = wanted;
      const known = remembered.get(url);
      if (known !== undefined) return known.image;
      // An account waits for no fetch of another, which may have no slot left.
      const key = `${wanted.accountId} ${url}`;
      const fetching = fetches.get(key) ?? fetchNow(wanted).finally(() => fetches.delete(key));
      fetches.set(key, fetching);
      return await fetching;
    },
    takeToSend: sendingBudget(),
    close,
  };
}

/** An image that is sent to many addresses counts once, for the first account that sends it, and once for each address. */
function sendingBudget(): ImageProxy['takeToSend'] {
  const all = openBudget({
    total: IMAGE_BYTES_SENT,
    perHolder: [IMAGE_BYTES_SENT_OF_ACCOUNT],
    dynamicThreshold: LEAVE_HALF,
  });
  const ofAddresses = openBudget({
    total: Number.POSITIVE_INFINITY,
    perHolder: [IMAGE_BYTES_SENT_TO_ADDRESS],
  });
  const sent = new Map<Image, { times: number; release: Release }>();
  return (image, accountId, address) => {
    const releaseAddress = ofAddresses.take(image.bytes.length, address);
    if (releaseAddress === undefined) return undefined;
    const release = sent.get(image)?.release ?? all.take(image.bytes.length, accountId);
    if (release === undefined) {
      releaseAddress();
      return undefined;
    }
    const sending = sent.get(image) ?? { times: 0, release };
    sending.times += 1;
    sent.set(image, sending);
    return () => {
      releaseAddress();
      sending.times -= 1;
      if (sending.times > 0) return;
      sent.delete(image);
      sending.release();
    };
  };
}
