import type { Response } from 'express';

/** Sends bytes that are already rendered: what is stored for a replay is exactly what is sent. */
export function sendJson(res: Response, text: string): void {
  const bytes = Buffer.from(text);
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', bytes.length);
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
}
