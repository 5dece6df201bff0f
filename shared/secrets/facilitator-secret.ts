import type { KeyObject } from 'node:crypto';
import { parseEd25519Key } from './ed25519-key.js';

const PREFIX = 'svc_sk_';

/** Throws for anything but an Ed25519 private key; the error never quotes the input. */
export function parseFacilitatorSecret(secret: string): KeyObject {
  return parseEd25519Key(secret.trim().replace(PREFIX, ''));
}

export function isFacilitatorSecret(secret: string): boolean {
  try {
    parseFacilitatorSecret(secret);
    return true;
  } catch {
    return false;
  }
}
