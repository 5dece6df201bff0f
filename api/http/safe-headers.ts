import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import helmet from 'helmet';

const YEAR_SECONDS = 31_536_000;

type Headers = readonly (readonly [name: string, value: string])[];

/**
 * What protects an answer to a program, which is most of what is sent: nobody takes it for a document, frames it, or
 * embeds it elsewhere. What browsers show has more.
 */
export function programHeaders(baseUrl: string): (res: Response) => void {
  const headers: Headers = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
    ...(baseUrl.startsWith('https:')
      ? [['Strict-Transport-Security', `max-age=${YEAR_SECONDS}`] as const]
      : []),
  ];
  return (res) => setAll(res, headers);
}

/** They are the same on every document, so helmet is asked for them once. */
const DOCUMENT_HEADERS = helmetHeaders();

/** helmet's set, for what browsers show, but for what every answer has; a document's policy is its own. */
export function setDocumentHeaders(res: Response): void {
  setAll(res, DOCUMENT_HEADERS);
}

function helmetHeaders(): Headers {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet({
    contentSecurityPolicy: false,
    crossOriginResourcePolicy: false,
    strictTransportSecurity: false,
    xContentTypeOptions: false,
  })(request, response, () => {});
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]);
}

function setAll(res: Response, headers: Headers): void {
  for (const [name, value] of headers) res.setHeader(name, value);
}
