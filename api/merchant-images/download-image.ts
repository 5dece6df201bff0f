import { buildConnector, type Dispatcher, request } from 'undici';
import {
  IMAGE_WITHIN_MS,
  MAX_ANSWER_PIECES,
  MAX_IMAGE_BYTES,
  MAX_IMAGE_FETCHES_OF_HOST,
} from '../../shared/limits/bounds.js';
import type { Budget } from '../../shared/limits/budget.js';
import { openOutgoing } from '../../shared/outgoing/outgoing-agent.js';
import { parseUrl } from '../../shared/values/parse-url.js';
import { assertPublicHost, publicLookup } from '../../shared/values/public-address.js';
import { imageType } from './image-type.js';
import { readImageBody } from './read-image-body.js';

/**
 * Downloads images from public addresses only, checked for the very connection that is used, and follows no redirects, which
 * could lead anywhere. An image is small, arrives quickly, and is one by its first bytes.
 */
interface ImageDownloader {
  /** Resolves to undefined or rejects when there is no usable image. */
  download(address: string, holder: string): Promise<Image | undefined>;
  close(): Promise<void>;
}

export interface Image {
  type: string;
  bytes: Buffer;
}

const BOUNDS = { bodyBytes: MAX_IMAGE_BYTES, pieces: MAX_ANSWER_PIECES };

/** The bytes of a download are taken from the budget. */
export function openImageDownloader(
  { allowPrivateNetworks }: { allowPrivateNetworks: boolean },
  budget: Budget,
): ImageDownloader {
  const { dispatcher, destroy } = openOutgoing(BOUNDS, {
    connections: MAX_IMAGE_FETCHES_OF_HOST,
    connect: buildConnector({ lookup: publicLookup(allowPrivateNetworks), timeout: IMAGE_WITHIN_MS }),
  });
  const schemes = allowPrivateNetworks ? ['https:', 'http:'] : ['https:'];
  return {
    async download(address, holder) {
      const url = parseUrl(address);
      if (url === undefined || !schemes.includes(url.protocol)) return undefined;
      if (!allowPrivateNetworks) assertPublicHost(url);
      const bytes = await get(dispatcher, url, (body, announced) =>
        readImageBody(body, announced, budget, holder),
      );
      const type = bytes && imageType(bytes);
      return bytes === undefined || type === undefined ? undefined : { type, bytes };
    },
    close: destroy,
  };
}

type ReadBody = (
  body: AsyncIterable<Uint8Array>,
  announced: number | undefined,
) => Promise<Buffer | undefined>;

async function get(dispatcher: Dispatcher, url: URL, read: ReadBody): Promise<Buffer | undefined> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    signal: AbortSignal.timeout(IMAGE_WITHIN_MS),
    headersTimeout: IMAGE_WITHIN_MS,
    bodyTimeout: IMAGE_WITHIN_MS,
    headers: {
      accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
      'user-agent': 'checkout-images',
    },
  });
  // A body that is destroyed on purpose emits an error; unheard, it would end the process.
  body.on('error', () => undefined);
  try {
    if (statusCode !== 200) return undefined;
    const announced = Number(headers['content-length']);
    return await read(body, announced > 0 ? announced : undefined);
  } finally {
    // Destroys the connection too, unless the body was read to its end.
    body.destroy();
  }
}
