import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { type Reaction, type Receiver, startReceiver } from '../../lab/world/receiver/receiver.js';
import {
  createWebhookSender,
  type PostResult,
  type SenderOptions,
  type WebhookSender,
} from '../../workers/webhook-delivery/post.js';

type Closing = { close(): Promise<unknown> }[];

/** A webhook receiver and a sender that posts to it. */
export interface WebhookTries {
  receiver: Receiver;
  closing: Closing;
  /** Opens another sender. */
  open(options?: Partial<SenderOptions>): WebhookSender;
  post(url?: string, by?: WebhookSender): Promise<PostResult>;
  whenIt(reaction: Reaction): Promise<PostResult>;
  /** Starts a TCP server: `listen` gets each connection and the number of the request on it. */
  startSpeaker(listen: (socket: Socket, request: number) => void): Promise<Speaker>;
  close(): Promise<void>;
}

interface Speaker {
  url: string;
  connections: () => number;
  requests: () => number;
}

export const WITHIN_MS = 800;
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

export const answered = (status: number, text = ''): PostResult => ({
  kind: 'answered',
  status,
  answer: text,
});
export const unanswered = (error: string): PostResult => ({ kind: 'unanswered', error });

export async function openWebhookTries(): Promise<WebhookTries> {
  const receiver = await startReceiver();
  const closing: Closing = [receiver];
  const open = (options: Partial<SenderOptions> = {}): WebhookSender => {
    const opened = createWebhookSender({ allowPrivateNetworks: true, ...options });
    closing.push(opened);
    return opened;
  };
  const sender = open({ headersWithinMs: WITHIN_MS });
  const tries: WebhookTries = {
    receiver,
    closing,
    open,
    async post(url = receiver.url, by = sender) {
      const result = await by.post(url, { 'content-type': 'application/json' }, Buffer.from('{"a":1}'));
      await turn(); // The connection returns to the pool shortly after the answer is read.
      return result;
    },
    whenIt(reaction) {
      receiver.react(reaction);
      return tries.post();
    },
    startSpeaker: (listen) => startSpeaker(closing, listen),
    async close() {
      await Promise.all(closing.splice(0).map((one) => one.close()));
    },
  };
  return tries;
}

async function startSpeaker(
  closing: Closing,
  listen: (socket: Socket, request: number) => void,
): Promise<Speaker> {
  let connections = 0;
  let requests = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let own = 0;
    socket.on('error', () => socket.destroy());
    socket.on('data', () => {
      requests += 1;
      own += 1;
      listen(socket, own);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(done));
    },
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, connections: () => connections, requests: () => requests };
}
