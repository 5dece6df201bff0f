import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy before Redis that can refuse connections or drop their traffic. */
export interface Relay {
  url: string;
  accept(): void;
  /** Ends every connection, and each new one. */
  refuse(): void;
  /** Keeps connections open and drops their traffic. */
  hold(): void;
  connections(): number;
  close(): Promise<void>;
}

export async function openRelay(redisUrl: string): Promise<Relay> {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let mode: 'accept' | 'refuse' | 'hold' = 'accept';
  const server = createServer((near) => {
    if (mode === 'refuse') {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('data', (bytes) => {
        if (mode !== 'hold') other.write(bytes);
      });
      one.on('error', () => one.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accept() {
      // The dropped bytes leave the two sides out of step, so the connections cannot continue.
      if (mode === 'hold') cut();
      mode = 'accept';
    },
    refuse() {
      mode = 'refuse';
      cut();
    },
    hold() {
      mode = 'hold';
    },
    connections: () => sockets.size / 2,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
