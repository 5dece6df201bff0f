import {
  MAX_IMAGE_FETCHES,
  MAX_IMAGE_FETCHES_OF_ACCOUNT,
  MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST,
  MAX_IMAGE_FETCHES_OF_HOST,
  MAX_IMAGES_WAITING,
  MAX_IMAGES_WAITING_OF_ACCOUNT,
} from '../../shared/limits/bounds.js';
import { LEAVE_HALF, type Release } from '../../shared/limits/budget.js';
import { openConcurrency } from '../../shared/limits/concurrency.js';

/**
 * Slots for fetching images. They belong to accounts first: an account has at most as many as are free, waiting fetches of the
 * account with the fewest start first, and at a host that hangs each account uses up its own slots only.
 */
export interface FetchSlots {
  /** Undefined after `withinMs`, and when too many wait. */
  take(withinMs: number, accountId: string, host: string): Promise<Release | undefined>;
}

export function openFetchSlots(): FetchSlots {
  const slots = openConcurrency({
    total: MAX_IMAGE_FETCHES,
    perHolder: [
      MAX_IMAGE_FETCHES_OF_ACCOUNT,
      MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST,
      MAX_IMAGE_FETCHES_OF_HOST,
    ],
    dynamicThreshold: LEAVE_HALF,
    waiting: {
      total: MAX_IMAGES_WAITING,
      perHolder: [MAX_IMAGES_WAITING_OF_ACCOUNT],
      dynamicThreshold: LEAVE_HALF,
    },
    order: 'fewest in flight',
  });
  return {
    take: (withinMs, accountId, host) => slots.take(withinMs, accountId, `${accountId} ${host}`, host),
  };
}
