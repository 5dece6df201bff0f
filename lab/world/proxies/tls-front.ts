import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { SELF_SIGNED } from './self-signed.js';

/** A TLS proxy with a self-signed certificate, for a store without TLS. */
export interface TlsFront {
  port: number;
  close(): Promise<void>;
}

const POSTGRES_SSL_REQUEST_BYTES = 8;

export async function openTlsFront(
  store: 'redis' | 'postgres',
  target: net.NetConnectOpts,
): Promise<TlsFront> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer(async (near) => {
    sockets.add(near);
    near.on('error', () => near.destroy()); // A client that does not trust the certificate hangs up.
    if (store === 'postgres') {
      await once(near, 'readable');
      near.read(POSTGRES_SSL_REQUEST_BYTES);
      near.write('S');
    }
    const secure = new tls.TLSSocket(near, { isServer: true, ...SELF_SIGNED });
    const far = net.connect(target);
    sockets.add(far);
    for (const [one, other] of [
      [secure, far],
      [far, secure],
    ] as const) {
      one.on('error', () => other.destroy());
      one.once('close', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
