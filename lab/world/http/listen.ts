import { randomInt } from 'node:crypto';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';

type Server = HttpServer | HttpsServer;

export interface LocalServer {
  port: number;
  url: string;
  /** Closes connections in use, too. */
  close(): Promise<void>;
}

/** The first port to try; the next free one is used when it is taken. 0 is any free port. */
export type PreferredPort = number;

const TRIES = 100;
/** Longer than the pause between two calls: no call is lost on a connection that is closing. */
export const KEEP_ALIVE_MS = 300_000;
const HOST = '127.0.0.1';

/** Serves a server or a request listener on loopback, on any free port unless one is preferred. */
export async function serveLocally(
  served: Server | RequestListener,
  preferred: PreferredPort = 0,
): Promise<LocalServer> {
  const server =
    typeof served === 'function' ? createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, served) : served;
  const port = await listen(server, preferred);
  const scheme = server instanceof HttpsServer ? 'https' : 'http';
  return { port, url: `${scheme}://${HOST}:${port}`, close: () => closeServer(server) };
}

/** Listens on loopback and returns the port. */
export async function listen(server: NetServer, preferred: PreferredPort): Promise<number> {
  for (let port = preferred; ; port += 1) {
    const taken = await tryToListen(server, port);
    if (taken === undefined) return (server.address() as AddressInfo).port;
    if (preferred === 0 || port >= preferred + TRIES || taken.code !== 'EADDRINUSE') throw taken;
  }
}

/** These ports lie below those that Linux gives to servers without a port and to outgoing connections (32,768 to 60,999). */
const FIRST_UNGIVEN_PORT = 20_000;
const UNGIVEN_PORTS = 12_000;

/** Finds a port for a program that gets it as an argument: nobody listens there, and the system gives it to nobody else. */
export async function findFreePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, FIRST_UNGIVEN_PORT + randomInt(UNGIVEN_PORTS));
  await closeServer(probe);
  return port;
}

export function urlOf(port: number): string {
  return `http://${HOST}:${port}`;
}

/** Closes connections in use, too. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

function tryToListen(server: NetServer, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => resolve(error);
    server.once('error', fail);
    server.listen(port, HOST, () => {
      server.off('error', fail);
      resolve(undefined);
    });
  });
}
