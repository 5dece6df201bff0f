import { Agent, type Dispatcher, request } from 'undici';
import type { PreparedRequest } from './wrk.js';

type Ask = (expected: number, asked: PreparedRequest & { method?: Dispatcher.HttpMethod }) => Promise<void>;

/** Sends one request after another; each must be answered with the expected status. */
export function oneConnectionTo(url: string): Ask {
  const dispatcher = new Agent({ connections: 1 });
  return async (expected, { path, ...options }) => {
    const { statusCode, body } = await request(url + path, { dispatcher, ...options });
    await body.text();
    if (statusCode !== expected) throw new Error(`${path} answered ${statusCode}`);
  };
}
