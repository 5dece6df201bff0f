import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

const MAX_BYTES = 1024 * 1024;

/** Undefined when the body is not JSON, too long, or cut off. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length > MAX_BYTES) return undefined;
      chunks.push(bytes);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
