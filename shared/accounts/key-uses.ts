import { LRUCache } from 'lru-cache';
import type { Knex } from '../db/knex.js';
import { MAX_KEY_USES_KEPT } from '../limits/bounds.js';
import { nowMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { ApiKey } from './model.js';

/**
 * When each key was last used, to the hour: written once an hour and process, those of a moment together, and never by
 * the request itself.
 */
export interface KeyUses extends Closable {
  note(keyId: string): void;
  /** Writes what this process has noted, which it would do within a minute. Never fails: what could not be written is noted at the next use. */
  write(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const COLLECTED_FOR_MS = 60_000;

export function openKeyUses(db: Knex, logger: Logger): KeyUses {
  /** In which hour it was noted. */
  const noted = new LRUCache<string, number>({ max: MAX_KEY_USES_KEPT });
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
      timer ??= setTimeout(write, COLLECTED_FOR_MS).unref();
    },
    write,
    close: write,
  };
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}
