import type net from 'node:net';
import tls from 'node:tls';
import { SELF_SIGNED } from '../processes/self-signed.js';

const POSTGRES_SSL_REQUEST_BYTES = 8;

/** Accepts TLS with the self-signed certificate. A Postgres client first asks in plain text whether it may begin. */
export function acceptTls(
  plain: net.Socket,
  isPostgres: boolean,
  accepted: (near: net.Socket) => void,
): void {
  plain.on('error', () => plain.destroy()); // A client that does not trust the certificate hangs up.
  const begin = (): void => accepted(new tls.TLSSocket(plain, { isServer: true, ...SELF_SIGNED }));
  if (!isPostgres) {
    begin();
    return;
  }
  plain.once('readable', () => {
    plain.read(POSTGRES_SSL_REQUEST_BYTES);
    plain.write('S');
    begin();
  });
}
