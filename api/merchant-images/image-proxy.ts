import { LRUCache } from 'lru-cache';
import { nowMs } from '../../shared/clock.js';
import { type Image, openImageDownloader } from './download-image.js';

/**
 * Fetches merchants' images for their pages, so that buyers' browsers ask nobody but us. What was fetched, or could not
 * be, is remembered for a while. Callers pass stored URLs only.
 */
export interface ImageProxy {
  /** Undefined when there is no usable image at this address. */
  fetch(url: string): Promise<Image | undefined>;
  close(): Promise<void>;
}

const CACHE_BYTES = 64 * 1024 * 1024;
/** What an entry takes beside its image. */
const ENTRY_BYTES = 512;
const FOUND_MS = 3_600_000;
const MISSING_MS = 60_000;

export function createImageProxy(rules: { allowPrivateNetworks: boolean }): ImageProxy {
  const { download, close } = openImageDownloader(rules);
  const remembered = new LRUCache<string, { image: Image | undefined }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ image }) => (image?.bytes.length ?? 0) + ENTRY_BYTES,
    perf: { now: nowMs },
  });
  const underWay = new Map<string, Promise<Image | undefined>>();

  async function fetchNow(url: string): Promise<Image | undefined> {
    const image = await download(url).catch(() => undefined);
    remembered.set(url, { image }, { ttl: image === undefined ? MISSING_MS : FOUND_MS });
    return image;
  }

  return {
    async fetch(url) {
      const known = remembered.get(url);
      if (known !== undefined) return known.image;
      const asked = underWay.get(url) ?? fetchNow(url).finally(() => underWay.delete(url));
      underWay.set(url, asked);
      return await asked;
    },
    close,
  };
}
