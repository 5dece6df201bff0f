import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Requests a path and stops reading once the answer has begun. */
export async function requestAndStall(port: number, path: string, key: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  // A paused stream reads no more than its buffer holds.
  await once(socket, 'readable');
  return socket;
}

/** Reads the rest of the answer to its end. */
export async function readRest(socket: Socket): Promise<{ bytes: number; end: string }> {
  let bytes = 0;
  let end = '';
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    end = (end + chunk.toString('latin1')).slice(-20);
  });
  socket.resume();
  await once(socket, 'close');
  return { bytes, end };
}
