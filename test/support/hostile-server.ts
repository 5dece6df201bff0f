import { createServer, type Socket } from 'node:net';

/** A server that reads one request on each connection and then says `start`, and `again` until its client closes. */
export interface HostileServer {
  url: string;
  /** Connections that its clients have not closed. */
  open(): number;
  requests(): number;
  say(speech: Speech): void;
  close(): Promise<void>;
}

interface Speech {
  start?: string;
  /** Said without end, as fast as the client takes it; nothing more is said without it. */
  again?: string;
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const BLOCK_BYTES = 64 * 1024;

export const SPEECHES = {
  'interim answers without end': { again: 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n' },
  'one-byte chunks without end': { start: CHUNKED, again: '1\r\nx\r\n' },
  'chunk extensions without end': { start: CHUNKED, again: `1;${'x'.repeat(4000)}\r\nx\r\n` },
  'one chunk extension without end': { start: `${CHUNKED}1;`, again: 'x' },
  'headers without end': { start: 'HTTP/1.1 200 OK\r\n', again: 'a: b\r\n' },
  'one header without end': { start: 'HTTP/1.1 200 OK\r\na: ', again: 'b' },
  'trailers without end': { start: `${CHUNKED}1\r\nx\r\n0\r\n`, again: 'a: b\r\n' },
  'a body without end': { start: 'HTTP/1.1 200 OK\r\n\r\n', again: 'x'.repeat(BLOCK_BYTES) },
  'a status line without end': { start: 'HTTP/1.1 200 ', again: 'O' },
  silence: {},
} satisfies Record<string, Speech>;

export type SpeechName = keyof typeof SPEECHES;

export async function startHostileServer(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  let speech: Speech = {};
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      requests += 1;
      speak(socket, speech);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => sockets.size,
    requests: () => requests,
    say: (next) => {
      speech = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

function speak(socket: Socket, { start, again }: Speech): void {
  if (start !== undefined) socket.write(start);
  if (again === undefined) return;
  const block = again.repeat(Math.ceil(BLOCK_BYTES / again.length));
  const more = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', more);
  more();
}
