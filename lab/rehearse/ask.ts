import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { SELF_SIGNED } from '../world/proxies/self-signed.js';

/** Knows the certificate of the rehearsal, and trusts none but the usual and that. */
const dispatcher = new Agent({ connect: { ca: SELF_SIGNED.cert } });

export async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(url, { ...init, dispatcher });
}
