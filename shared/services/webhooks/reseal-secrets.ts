import type { Knex } from '../../db/knex.js';
import { WebhookEndpoint } from '../../models/webhook-endpoint.js';
import type { SecretBox } from '../../secrets.js';

export interface Resealed {
  resealed: number;
  /** Sealed with the first key before. */
  current: number;
  /** Endpoints whose secret no key of the ring opens. */
  unreadable: string[];
}

const BATCH = 500;

/**
 * Seals every webhook secret that is still used with the ring's first key. A row is written only while it holds what
 * was opened, each in a statement of its own: nobody is kept waiting, and several may do this at once.
 */
export async function resealSecrets(db: Knex, box: SecretBox): Promise<Resealed> {
  const done: Resealed = { resealed: 0, current: 0, unreadable: [] };
  for (let after = ''; ; ) {
    const endpoints = await WebhookEndpoint.query(db)
      .select('id', 'sealedSecret')
      .where('id', '>', after)
      .whereNull('deletedAt')
      .orderBy('id')
      .limit(BATCH);
    const last = endpoints.at(-1);
    if (last === undefined) return done;
    for (const endpoint of endpoints) await reseal(db, box, endpoint, done);
    after = last.id;
  }
}

async function reseal(
  db: Knex,
  box: SecretBox,
  { id, sealedSecret }: WebhookEndpoint,
  done: Resealed,
): Promise<void> {
  const secret = openIfPossible(box, sealedSecret);
  if (secret === undefined) {
    done.unreadable.push(id);
  } else if (box.isCurrent(sealedSecret)) {
    done.current += 1;
  } else {
    done.resealed += await WebhookEndpoint.query(db)
      .patch({ sealedSecret: box.seal(secret) })
      .where({ id, sealedSecret });
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
