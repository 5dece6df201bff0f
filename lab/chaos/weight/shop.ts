import { copyRow } from './copy-row.js';
import { fullSession } from './heaviest.js';
import { create } from './heavy-operation.js';
import type { ImageHosts } from './image-hosts.js';
import type { WeightSystem } from './system.js';

export const SESSIONS = '/v1/checkout/sessions';
const FULL_SESSIONS = 100;
const HOSTILE_IMAGES = 800;

// A body is serialized once: serializing it again would add load that is not the service's.
export const fullBody = onlyOnce((images: ImageHosts) => JSON.stringify(fullSession(images.at)));

/** The heavy account's sessions of full size, and one of which all images are at hostile hosts. */
const full: string[] = [];
let hostile = '';

export function pick(n: number): string {
  return full[n % full.length] ?? '';
}

/** The path of an image that a hostile host has. */
export function hostileImage(n: number): string {
  return `/c/${hostile}/images/${n % HOSTILE_IMAGES}`;
}

/** Fills the heavy account's shop. */
export async function fillShop({ db, heavy, images, hostileHosts }: WeightSystem): Promise<void> {
  const first = await create(heavy.client, SESSIONS, fullBody(images));
  const copies = { table: 'checkout_sessions', count: FULL_SESSIONS - 1 } as const;
  full.push(first, ...(await copyRow(db, first, copies)));
  const session = fullSession((n) => `${hostileHosts.url}/${n}.png`);
  hostile = await create(heavy.client, SESSIONS, JSON.stringify(session));
}

export function onlyOnce<From>(make: (from: From) => string): (from: From) => string {
  let made: string | undefined;
  return (from) => {
    made ??= make(from);
    return made;
  };
}
