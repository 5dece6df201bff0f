import { subscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import { nowMs } from '../../../shared/process/clock.js';

/** Identifies the service process that calls a server of this process: each has a key of its own. */
export function callerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return authorization === '' ? undefined : decodeJwt(authorization.replace('Bearer ', '')).sub;
}

interface Started {
  request: IncomingMessage;
  response: ServerResponse;
}

/** When callers of this path hung up before their answer had begun, keyed by the request's headers. */
export function watchForHangUps(path: string): WeakMap<IncomingHttpHeaders, number> {
  const hungUp = new WeakMap<IncomingHttpHeaders, number>();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as Started;
    if (request.url !== path) return;
    const { socket } = request;
    const onHangUp = (): void => {
      if (!response.headersSent) hungUp.set(request.headers, nowMs());
    };
    // Only the other side's end counts: closing the connection here emits neither event.
    socket.once('end', onHangUp).once('error', onHangUp);
    response.once('close', () => socket.off('end', onHangUp).off('error', onHangUp));
  });
  return hungUp;
}
