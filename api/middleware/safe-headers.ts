import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet, { type HelmetOptions } from 'helmet';
import type { Step } from './in-one-step.js';

/** helmet's headers. They are the same on every answer, so it is asked for them once. */
export function safeHeaders(options: HelmetOptions): Step {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => {});
  const headers = Object.entries(response.getHeaders()).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return (_req, res) => {
    for (const [name, value] of headers) res.setHeader(name, value);
  };
}
