import type { Knex } from '../db/knex.js';
import type { SecretBox } from '../secrets/secrets.js';
import { WebhookEndpoint } from './model.js';

export interface Resealed {
  resealed: number;
  /** Sealed with the first key before. */
  current: number;
  /** Endpoints with a secret that no key of the ring opens. */
  unreadable: string[];
}

const BATCH = 500;
const SEALED = ['sealedSecret', 'previousSealedSecret'] as const;

/**
 * Seals every webhook secret that is still used with the ring's first key. A row is written only while it holds what
 * was opened, each in a statement of its own: nobody is kept waiting, and several may do this at once.
 */
export async function resealSecrets(db: Knex, box: SecretBox): Promise<Resealed> {
  const done: Resealed = { resealed: 0, current: 0, unreadable: [] };
  for (let after = ''; ; ) {
    const endpoints = await WebhookEndpoint.query(db)
      .select('id', ...SEALED)
      .where('id', '>', after)
      .whereNull('deletedAt')
      .orderBy('id')
      .limit(BATCH);
    const last = endpoints.at(-1);
    if (last === undefined) return done;
    for (const endpoint of endpoints)
      for (const column of SEALED) await reseal(db, box, endpoint, column, done);
    after = last.id;
  }
}

async function reseal(
  db: Knex,
  box: SecretBox,
  endpoint: WebhookEndpoint,
  column: (typeof SEALED)[number],
  done: Resealed,
): Promise<void> {
  const { id, [column]: sealed } = endpoint;
  if (sealed === null) return;
  const secret = openIfPossible(box, sealed);
  if (secret === undefined) {
    if (!done.unreadable.includes(id)) done.unreadable.push(id);
  } else if (box.isCurrent(sealed)) {
    done.current += 1;
  } else {
    done.resealed += await WebhookEndpoint.query(db)
      .patch({ [column]: box.seal(secret) })
      .where({ id, [column]: sealed });
  }
}

function openIfPossible(box: SecretBox, sealed: string): string | undefined {
  try {
    return box.open(sealed);
  } catch {
    // Its key is not in the ring, or it was tampered with: it is counted, and left as it is.
    return undefined;
  }
}
