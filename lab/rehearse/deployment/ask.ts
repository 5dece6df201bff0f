import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { SELF_SIGNED } from '../../world/processes/self-signed.js';

/** Trusts the rehearsal's certificate in place of public authorities. */
const dispatcher = new Agent({ connect: { ca: SELF_SIGNED.cert } });

export async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(url, { ...init, dispatcher });
}
