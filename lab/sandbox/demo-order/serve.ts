import type { IncomingMessage, ServerResponse } from 'node:http';
import { readSourceFile } from '../files/read-source-file.js';

const PATH = '/sandbox/coffee.png';
const PICTURE = readSourceFile('demo-order/coffee.png');

/** Serves the picture of the demo order's item, as a merchant's server does; false for any other request. */
export function serveDemoPicture({ method, url }: IncomingMessage, response: ServerResponse): boolean {
  if (method !== 'GET' || url !== PATH) return false;
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': PICTURE.length }).end(PICTURE);
  return true;
}
