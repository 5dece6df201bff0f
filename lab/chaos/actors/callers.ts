import { subscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import { nowMs } from '../../../shared/process/clock.js';

/** Who calls a server of this process, and who goes before the answer. Each service process has a key of its own. */
export function callerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return authorization === '' ? undefined : decodeJwt(authorization.replace('Bearer ', '')).sub;
}

interface Started {
  request: IncomingMessage;
  response: ServerResponse;
}

/** When the callers of this path ended their connections, whose answers had not begun; by the requests' headers. */
export function watchForHangUps(path: string): WeakMap<IncomingHttpHeaders, number> {
  const hungUp = new WeakMap<IncomingHttpHeaders, number>();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as Started;
    if (request.url !== path) return;
    const { socket } = request;
    const hear = (): void => {
      if (!response.headersSent) hungUp.set(request.headers, nowMs());
    };
    // Only the other side's: ending it here makes neither.
    socket.once('end', hear).once('error', hear);
    response.once('close', () => socket.off('end', hear).off('error', hear));
  });
  return hungUp;
}
