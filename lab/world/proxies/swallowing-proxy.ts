import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SwallowingProxy {
  port: number;
  /** The upstream's answer on each connection, once it has closed them all. */
  swallowed: Promise<string[]>;
  close(): Promise<void>;
}

/** A proxy that delivers requests and drops the answers. It calls `onAnswered` when `count` answers have begun. */
export async function openSwallowingProxy(
  upstreamPort: number,
  count: number,
  onAnswered: () => void,
): Promise<SwallowingProxy> {
  const sockets = new Set<Socket>();
  const answers: Promise<string>[] = [];
  let begun = 0;
  let announceEnd = (): void => {};
  const ended = new Promise<void>((resolve) => {
    announceEnd = resolve;
  });
  const swallow = (client: Socket): Promise<string> => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    sockets.add(client).add(upstream);
    client.pipe(upstream);
    // The killed process resets its connections, and the client times out.
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    let answer = '';
    upstream.setEncoding('utf8').on('data', (chunk: string) => {
      if (answer === '' && ++begun === count) onAnswered();
      answer += chunk;
    });
    return once(upstream, 'close').then(() => {
      client.destroy();
      return answer;
    });
  };
  const server = createServer((client) => {
    answers.push(swallow(client));
    if (answers.length === count) announceEnd();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    swallowed: ended.then(() => Promise.all(answers)),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
