import { createServer } from 'node:net';

const FIRST_PORT = 3000;
const TRIES = 100;

/** A port that no other process can take until its release, as another start would, which begins at the same time. */
export interface HeldPort {
  port: number;
  release(): Promise<void>;
}

/** Holds the first free port from 3000 on. */
export async function choosePort(): Promise<HeldPort> {
  for (let port = FIRST_PORT; port < FIRST_PORT + TRIES; port++) {
    const held = await hold(port);
    if (held !== undefined) return held;
  }
  throw new Error(`The ports ${FIRST_PORT} to ${FIRST_PORT + TRIES - 1} are all taken: set PORT.`);
}

/** Holds a configured port, for 0 any free one. Fails when it is taken, instead of choosing another one. */
export async function requireFreePort(port: number): Promise<HeldPort> {
  const held = await hold(port);
  if (held !== undefined) return held;
  throw new Error(`PORT is ${port}, and that is taken: stop what listens there, or set another PORT.`);
}

export function describeChoice(port: number): string[] {
  return port === FIRST_PORT ? [] : [`Port ${FIRST_PORT} is taken: this one listens on ${port}.`];
}

/** Undefined when the port is taken. */
function hold(port: number): Promise<HeldPort | undefined> {
  return new Promise((resolve) => {
    const holder = createServer((socket) => socket.destroy());
    const release = (): Promise<void> => new Promise((released) => holder.close(() => released()));
    holder.once('error', () => resolve(undefined));
    holder.listen(port, () => {
      const address = holder.address();
      resolve({ port: typeof address === 'object' && address !== null ? address.port : port, release });
    });
  });
}
