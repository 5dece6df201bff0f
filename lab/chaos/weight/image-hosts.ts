import { createServer } from 'node:https';
import { type LocalServer, serveLocally } from '../../world/http/listen.js';
import { SELF_SIGNED } from '../../world/processes/self-signed.js';

/** Servers that send an image of 2 MiB slowly. */
export interface ImageHosts {
  /** The n-th image; successive images are on different hosts. */
  at(n: number): string;
  stop(): Promise<void>;
}

const HOSTS = 70;
const PART = Buffer.alloc(256 * 1024, 1);
const PARTS = 7;
const PAUSE_MS = 500;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

export async function startImageHosts(): Promise<ImageHosts> {
  const hosts = await Promise.all(Array.from({ length: HOSTS }, startHost));
  return {
    at: (n) => `https://localhost:${hosts[n % HOSTS]?.port}/${n}.png`,
    async stop() {
      await Promise.all(hosts.map((host) => host.close()));
    },
  };
}

async function startHost(): Promise<LocalServer> {
  const server = createServer(SELF_SIGNED, (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).write(PNG);
    let sent = 0;
    const timer = setInterval(() => {
      response.write(PART);
      sent += 1;
      if (sent < PARTS) return;
      clearInterval(timer);
      response.end();
    }, PAUSE_MS);
    response.on('close', () => clearInterval(timer));
  });
  return await serveLocally(server);
}
