import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where to cut the connection of a paying request. Bytes before the cut are delivered. */
export type Cut =
  /** After this many bytes of the request; a negative number counts from its end. */
  | { requestBytes: number }
  /** After this many bytes of the answer; a negative number counts from its end. */
  | { answerBytes: number }
  /** When this promise resolves, after the whole request has been delivered. */
  | { when: Promise<unknown> };

/** A proxy before a web process that cuts the next connection with a payment. */
export interface CuttingProxy {
  port: number;
  cutNext(cut: Cut): void;
  /** The PAYMENT-SIGNATURE of the connection that was cut. */
  lostPayment(): string;
  close(): Promise<void>;
}

const PAYMENT = /^payment-signature: *(\S+)\r?$/im;

export async function openCuttingProxy(upstreamPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let armed: Cut | undefined;
  let lost = '';

  function carry(near: Socket): void {
    const far = connect(upstreamPort, '127.0.0.1');
    const cutBoth = (): void => {
      near.destroy();
      far.destroy();
    };
    let cut: Cut | undefined;
    let passed = 0;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', cutBoth);
      socket.on('close', () => {
        sockets.delete(socket);
        cutBoth();
      });
    }
    near.on('data', (bytes) => {
      const payment = armed && PAYMENT.exec(bytes.toString('latin1'))?.[1];
      if (armed === undefined || payment === undefined) {
        far.write(bytes);
        return;
      }
      [cut, armed, lost] = [armed, undefined, payment];
      if ('requestBytes' in cut) {
        far.write(bytes.subarray(0, cut.requestBytes), cutBoth);
        return;
      }
      far.write(bytes);
      if ('when' in cut) void cut.when.then(cutBoth);
    });
    far.on('data', (bytes) => {
      if (cut === undefined || !('answerBytes' in cut)) {
        near.write(bytes);
        return;
      }
      const rest = cut.answerBytes < 0 ? bytes.length + cut.answerBytes : cut.answerBytes - passed;
      passed += bytes.length;
      if (rest >= bytes.length) near.write(bytes);
      else near.end(bytes.subarray(0, rest), () => cutBoth());
    });
  }

  const server = createServer(carry);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutNext(cut) {
      armed = cut;
    },
    lostPayment() {
      if (lost === '') throw new Error('no payment was cut off');
      return lost;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
