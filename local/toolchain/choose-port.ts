import { createServer } from 'node:net';

const FIRST_PORT = 3000;
const TRIES = 100;

/** The first free port from 3000 on. */
export async function choosePort(): Promise<number> {
  for (let port = FIRST_PORT; port < FIRST_PORT + TRIES; port++) {
    if (await isFree(port)) return port;
  }
  throw new Error(`The ports ${FIRST_PORT} to ${FIRST_PORT + TRIES - 1} are all taken: set PORT.`);
}

/** Fails when a configured port is taken, instead of choosing another one. */
export async function requireFreePort(port: number): Promise<void> {
  if (port !== 0 && !(await isFree(port))) {
    throw new Error(`PORT is ${port}, and that is taken: stop what listens there, or set another PORT.`);
  }
}

export function describeChoice(port: number): string[] {
  return port === FIRST_PORT ? [] : [`Port ${FIRST_PORT} is taken: this one listens on ${port}.`];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}
