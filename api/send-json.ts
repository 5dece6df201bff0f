import type { Response } from 'express';

/** Sends bytes that are already rendered: what is stored for a replay is exactly what is sent. */
export function sendJson(res: Response, text: string): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  // A string goes out with its headers in one write; bytes would take two.
  res.end(res.req.method === 'HEAD' ? undefined : text);
}
