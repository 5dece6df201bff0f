import { createServer, type Server } from 'node:http';
import type { Express } from 'express';

/** Longer than a router keeps its side open (90 s), so that it never writes into a connection we just closed. */
const KEEP_ALIVE_MS = 95_000;
/** A payment header has up to 16 KiB, and is not alone. */
const MAX_HEADER_BYTES = 32 * 1024;

export function createHttpServer(app: Express): Server {
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS }, app);
}
