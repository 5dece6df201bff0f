import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';

/** Longer than a router keeps its side open (90 s), so that it never writes into a connection we just closed. */
const KEEP_ALIVE_MS = 95_000;
/** A payment header has up to 16 KiB, and is not alone. */
const MAX_HEADER_BYTES = 32 * 1024;

export function createHttpServer(app: Express): Server {
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS }, app);
}

/** Stops accepting, tells the clients in flight that their connection ends, and cuts what is left after a while. */
export async function drain(
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  timeoutMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const response of inFlight) if (!response.headersSent) response.setHeader('Connection', 'close');
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearTimeout(cut);
}

/** The answers that a server still owes. */
export function trackInFlight(server: Server): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>();
  server.prependListener('request', (_request, response: ServerResponse) => {
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
  });
  return inFlight;
}
