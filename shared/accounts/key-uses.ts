import type { Knex } from '../db/knex.js';
import { MAX_KEY_USES_KEPT } from '../limits/bounds.js';
import { lruCache } from '../limits/lru-cache.js';
import { nowMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { HOUR_MS } from '../values/day.js';
import { ApiKey } from './model.js';

/**
 * When each key was last used, to the hour. Each process writes a key's use at most once an hour, in batches, outside the
 * request.
 */
export interface KeyUses extends Closable {
  note(keyId: string): void;
  /** Writes the noted uses now instead of within a minute. Never fails: a lost use is noted again at the next use. */
  write(): Promise<void>;
}

const WRITE_AFTER_MS = 60_000;

export function openKeyUses(db: Knex, logger: Logger): KeyUses {
  /** Key ids with the hour of their last note. */
  const noted = lruCache<number>(MAX_KEY_USES_KEPT);
  let waiting = new Set<string>();
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function writeAll(keyIds: readonly string[], at: Date): Promise<void> {
    try {
      await ApiKey.query(db)
        .patch({ lastUsedAt: at })
        .whereIn('id', keyIds)
        .whereNull('revokedAt')
        .where((unless) => unless.whereNull('lastUsedAt').orWhere('lastUsedAt', '<', at));
    } catch (error) {
      for (const keyId of keyIds) noted.delete(keyId);
      logger.warn({ event: 'key_uses.not_written', keys: keyIds.length, err: error });
    }
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return writing;
    const keyIds = [...waiting].sort();
    waiting = new Set();
    const at = new Date(hourOf(nowMs()) * HOUR_MS);
    writing = writing.then(() => writeAll(keyIds, at));
    return writing;
  }

  return {
    note(keyId) {
      const hour = hourOf(nowMs());
      if (noted.get(keyId) === hour) return;
      noted.set(keyId, hour);
      waiting.add(keyId);
      timer ??= setTimeout(write, WRITE_AFTER_MS).unref();
    },
    write,
    close: write,
  };
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}
