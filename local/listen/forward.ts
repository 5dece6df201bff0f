import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signWebhook } from '../../workers/webhook-delivery/sign.js';
import { codeOf } from './events-api.js';

const ANSWER_WITHIN_MS = 10_000;
/** A shop that restarts while its developer saves a file refuses connections for a moment. */
const REFUSED_TRIES = 4;
const REFUSED_PAUSE_MS = 500;

/** A checkout key always gets one secret, so that a receiver need not be changed when the command starts again. */
export function secretFor(key: string): string {
  return `whsec_${createHmac('sha256', key).update('listen').digest('base64')}`;
}

/** Posts an event as a webhook is posted. Returns the status, or why there was none. */
export async function forwardEvent(url: string, secret: string, id: string, body: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const said = await postOnce(url, secret, id, body);
    if (said !== 'ECONNREFUSED' || tries === REFUSED_TRIES) return said;
    await sleep(REFUSED_PAUSE_MS);
  }
}

async function postOnce(url: string, secret: string, id: string, text: string): Promise<string> {
  const signed = await signWebhook([secret], id, text, Math.floor(Date.now() / 1000));
  const headers = { 'content-type': 'application/json', ...signed.headers };
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: signed.body,
      signal,
      redirect: 'manual',
    });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    return codeOf(error);
  }
}
