import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import helmet from 'helmet';

const YEAR_SECONDS = 31_536_000;

type Headers = readonly (readonly [name: string, value: string])[];

/**
 * Security headers of every response. They suit a response that programs read: never rendered, framed or embedded.
 * Pages add `setDocumentHeaders`.
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

/** Constant, so helmet runs once. */
const DOCUMENT_HEADERS = helmetHeaders();

/** The other headers of helmet, for pages. Each page sets its own Content-Security-Policy. */
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
    // These headers are read only by browsers and plug-ins that are no longer in use.
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })(request, response, () => {});
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]);
}

function setAll(res: Response, headers: Headers): void {
  for (const [name, value] of headers) res.setHeader(name, value);
}
