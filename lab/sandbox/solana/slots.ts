import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { nowMs } from '../../../shared/process/clock.js';

/**
 * Slots follow from the clock alone, and a slot's blockhash from its number. So none of them is stored, and a restarted
 * cluster continues where an uninterrupted one would be.
 */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

export const COMMITMENTS: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
const MS_PER_SLOT = 400;
const FIRST_SLOT_AT_MS = Date.UTC(2025, 0, 1);
/** A transaction may land for this many slots after its blockhash. */
export const BLOCKHASH_SLOTS = 150;

/** The age at which a transaction reaches a commitment. A real cluster takes about 0.5 s and 13 s. */
export interface Delays {
  confirmedAfterMs: number;
  finalizedAfterMs: number;
}

export function slotAt(timeMs: number): number {
  return Math.floor((timeMs - FIRST_SLOT_AT_MS) / MS_PER_SLOT);
}

export function secondsOf(slot: number): number {
  return Math.floor((FIRST_SLOT_AT_MS + slot * MS_PER_SLOT) / 1000);
}

export function newestSlot(commitment: Commitment, delays: Delays): number {
  return slotAt(nowMs() - ageOf(commitment, delays));
}

export function commitmentOf(landedAtMs: number, delays: Delays): Commitment {
  const age = nowMs() - landedAtMs;
  if (age >= delays.finalizedAfterMs) return 'finalized';
  return age >= delays.confirmedAfterMs ? 'confirmed' : 'processed';
}

export function isAtLeast(reached: Commitment, wanted: Commitment): boolean {
  return COMMITMENTS.indexOf(reached) >= COMMITMENTS.indexOf(wanted);
}

export function blockhashOf(slot: number): string {
  return new PublicKey(createHash('sha256').update(`sandbox slot ${slot}`).digest()).toBase58();
}

/** Answers as a node that has seen the chain up to `slot`: a later blockhash is unknown, and so invalid. */
export function isBlockhashValid(blockhash: string, slot: number): boolean {
  for (let age = 0; age <= BLOCKHASH_SLOTS; age += 1) if (blockhashOf(slot - age) === blockhash) return true;
  return false;
}

function ageOf(commitment: Commitment, { confirmedAfterMs, finalizedAfterMs }: Delays): number {
  if (commitment === 'processed') return 0;
  return commitment === 'confirmed' ? confirmedAfterMs : finalizedAfterMs;
}
