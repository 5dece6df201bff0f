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

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}
