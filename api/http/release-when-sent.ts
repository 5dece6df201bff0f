import type { ServerResponse } from 'node:http';
import { SENT_WITHIN_MS } from '../../shared/limits/bounds.js';
import { onClose } from './on-close.js';

/** Calls `release` when the response is sent. A client that takes longer than SENT_WITHIN_MS is disconnected. */
export function releaseWhenSent(res: ServerResponse, release: () => void): void {
  const tooSlow = setTimeout(() => res.destroy(), SENT_WITHIN_MS);
  onClose(res, () => {
    clearTimeout(tooSlow);
    release();
  });
}
