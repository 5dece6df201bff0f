import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedProcess } from '../../../local/toolchain/guarded-process.js';

type Ask = (url: string) => Promise<{ ok: boolean }>;

const PATIENCE_MS = 30_000;
const ASK_EVERY_MS = 50;

/** Polls until the answer of a process is a success. */
export async function untilAnswered(asked: GuardedProcess, url: string, ask: Ask = fetch): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await ask(url).catch(() => undefined))?.ok) {
    if (asked.hasExited() || performance.now() > endsAt)
      throw new Error(`${url} gives no good answer:\n${asked.recentOutput()}`);
    await sleep(ASK_EVERY_MS);
  }
}
