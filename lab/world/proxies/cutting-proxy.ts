import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where the connection of a paying request is cut; what had got through stays so. */
export type Cut =
  /** After so many bytes of the request; below zero, so many before its end. */
  | { requestBytes: number }
  /** After so many bytes of the answer, or so many before its end. */
  | { answerBytes: number }
  /** When the whole request has got through, at a moment of the test's choosing. */
  | { when: Promise<unknown> };

/** Stands before a web process as the network does, and cuts the next connection on which somebody pays. */
export interface CuttingProxy {
  port: number;
  cutNext(cut: Cut): void;
  /** The PAYMENT-SIGNATURE that was sent on the connection that was cut. */
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
