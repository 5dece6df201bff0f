import type { ServerResponse } from 'node:http';
import { SENT_WITHIN_MS } from '../../shared/limits/bounds.js';
import { whenOver } from './on-close.js';

/** Gives back what an answer holds when it is sent. Whoever takes it too slowly is cut off. */
export function releaseWhenSent(res: ServerResponse, release: () => void): void {
  const tooSlow = setTimeout(() => res.destroy(), SENT_WITHIN_MS);
  whenOver(res, () => {
    clearTimeout(tooSlow);
    release();
  });
}
