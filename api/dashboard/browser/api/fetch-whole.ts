import { syncClock } from '../state/clock.js';

/** Longer than the service waits for its database before it answers 503. */
export const SILENCE_SECONDS = 30;

/** The server has sent nothing for SILENCE_SECONDS, and may still do what it was asked. */
export class SilentServer extends Error {}

/**
 * Fetches an answer with its body. The limit is for the time without a byte, so that a frozen server leaves no spinner,
 * and a table may take as long as it arrives.
 */
export async function fetchWhole(path: string, init: RequestInit): Promise<Response> {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waitOn = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => ending.abort(), SILENCE_SECONDS * 1000);
  };
  waitOn();
  try {
    const answer = await fetch(path, { ...init, signal: ending.signal });
    const { body, status, headers } = answer;
    // The body may take minutes.
    syncClock(headers.get('Date'));
    const whole = await new Response(body?.pipeThrough(onPiece(waitOn)) ?? null).blob();
    return new Response(whole.size === 0 ? null : whole, { status, headers });
  } catch (error) {
    throw ending.signal.aborted ? new SilentServer() : error;
  } finally {
    clearTimeout(timer);
  }
}

function onPiece(arrived: () => void): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    transform(piece, out) {
      arrived();
      out.enqueue(piece);
    },
  });
}
