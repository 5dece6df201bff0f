import { createServer, request } from 'node:http';

/** Forwards HTTP requests to the target, with the target's own name in the Host header. */
export function relay({ from, to }) {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const passed = request({
      ...to,
      method,
      path: url,
      headers: { ...headers, host: `${to.host}:${to.port}` },
    });
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.headersSent || outgoing.writeHead(502).end());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(from.port, from.host, () => resolve(server));
  });
}
