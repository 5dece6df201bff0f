import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Response } from 'supertest';

/** A socket that stays open for writing after the server has closed its side, and whose errors are ignored. */
export function openWire(port: number): Socket {
  return connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
}

/** Sends bytes, and returns everything that is received until the server closes the connection. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = openWire(port);
  socket.write(bytes);
  return await restOf(socket);
}

/** Everything that is received from now on, until the server closes the connection. */
export async function restOf(socket: Socket): Promise<string> {
  const text = (await buffer(socket)).toString('utf8');
  socket.destroy();
  return text;
}

/** The statuses of answers behind one another. */
export function statusesOf(answers: string): number[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** The last answer, as supertest would give it. */
export function asResponse(answers: string): Response {
  const answer = answers.slice(answers.lastIndexOf('HTTP/1.1 '));
  const [head = '', text = ''] = answer.split('\r\n\r\n');
  const headers = new Map(
    head.split('\r\n').map((line) => {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      return [name.toLowerCase(), value];
    }),
  );
  const get = (name: string): string | undefined => headers.get(name.toLowerCase());
  const body: unknown = get('content-type')?.startsWith('application/json') ? JSON.parse(text) : {};
  return { status: statusesOf(answer)[0], text, body, get } as Response;
}
