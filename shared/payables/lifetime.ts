import { Refusal } from '../errors/refusal.js';

/** Limits of `expires_at`, in seconds from now. */
export interface Lifetime {
  shortest: number;
  longest: number;
  default: number;
  inWords: string;
}

export const SESSION_LIFETIME: Lifetime = {
  shortest: 30 * 60,
  longest: 24 * 3600,
  default: 24 * 3600,
  inWords: '30 minutes and 24 hours',
};

/** A client that sends the limit itself is not refused for the time that its request takes. */
const LEEWAY_SECONDS = 10;

export function chooseExpiry(requestedSeconds: number | undefined, allowed: Lifetime, now: Date): Date {
  if (requestedSeconds === undefined) return new Date(now.getTime() + allowed.default * 1000);
  const lifetime = requestedSeconds - now.getTime() / 1000;
  if (lifetime < allowed.shortest - LEEWAY_SECONDS || lifetime > allowed.longest + LEEWAY_SECONDS) {
    throw new Refusal(
      'parameter_invalid_integer',
      `expires_at must be between ${allowed.inWords} from now, in Unix seconds; you sent ${requestedSeconds}.`,
      { param: 'expires_at' },
    );
  }
  return new Date(requestedSeconds * 1000);
}
