import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';

const PATH = '/sandbox/coffee.png';
const PICTURE = readFileSync(new URL('coffee.png', import.meta.url));

/** Serves the picture of the demo order's item, as a merchant's server does; false for any other request. */
export function serveDemoPicture({ method, url }: IncomingMessage, response: ServerResponse): boolean {
  if (method !== 'GET' || url !== PATH) return false;
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': PICTURE.length }).end(PICTURE);
  return true;
}
