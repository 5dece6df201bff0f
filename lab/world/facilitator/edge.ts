import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Limits of the proxy before a facilitator: a call rate with a burst, and a number of connections. */
interface EdgeLimits {
  perSecond: number;
  burst: number;
  connections: number;
}

/** The limit that a refused call exceeded. */
type Excess = 'calls' | 'connections';

/**
 * The proxy before a facilitator. Beyond its limits it answers 503 in HTML, and the facilitator never sees the call.
 */
export interface Edge {
  limitTo(limits: EdgeLimits | undefined): void;
  /** The refused calls, one entry for each. */
  readonly turnedAway: readonly Excess[];
  /** The highest number of connections that were open at once. */
  readonly mostConnections: number;
  admits(socket: Socket): boolean;
}

export function openEdge(server: Server): Edge {
  const sockets = new Set<Socket>();
  let limits: EdgeLimits | undefined;
  let tokens = 0;
  let filledAtMs = 0;
  const turnedAway: Excess[] = [];
  let mostConnections = 0;

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    mostConnections = Math.max(mostConnections, sockets.size);
  });

  function takeToken({ perSecond, burst }: EdgeLimits): boolean {
    const nowMs = performance.now();
    tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) / 1000) * perSecond);
    filledAtMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  }

  return {
    limitTo(wanted) {
      limits = wanted;
      tokens = wanted?.burst ?? 0;
      filledAtMs = performance.now();
    },
    turnedAway,
    get mostConnections() {
      return mostConnections;
    },
    admits(socket) {
      if (limits === undefined) return true;
      const isAmongFirst = [...sockets].indexOf(socket) < limits.connections;
      if (isAmongFirst && takeToken(limits)) return true;
      turnedAway.push(isAmongFirst ? 'calls' : 'connections');
      return false;
    },
  };
}

export function turnAway(response: ServerResponse): void {
  response
    .writeHead(503, { 'content-type': 'text/html' })
    .end('<html><body>503 Service Temporarily Unavailable</body></html>');
}
