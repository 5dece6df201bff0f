import {
  MAX_IMAGE_FETCHES,
  MAX_IMAGE_FETCHES_OF_ACCOUNT,
  MAX_IMAGE_FETCHES_OF_HOST,
  MAX_IMAGES_WAITING,
  MAX_IMAGES_WAITING_OF_ACCOUNT,
} from '../../shared/limits/bounds.js';
import { type Concurrency, openConcurrency } from '../../shared/limits/concurrency.js';

/**
 * Slots for fetching images, each held by an account and a host. Neither a hanging host nor an account with many hanging
 * hosts delays other accounts' images.
 */
export function openFetchSlots(): Concurrency {
  return openConcurrency({
    total: MAX_IMAGE_FETCHES,
    perHolder: [MAX_IMAGE_FETCHES_OF_ACCOUNT, MAX_IMAGE_FETCHES_OF_HOST],
    waiting: { total: MAX_IMAGES_WAITING, perHolder: [MAX_IMAGES_WAITING_OF_ACCOUNT] },
  });
}
