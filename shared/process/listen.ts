import type { Server } from 'node:net';

interface Listening {
  port: number;
  /** Undefined: every address. */
  host?: string | undefined;
  /** The variable that holds the port. */
  variable: 'PORT' | 'WORKER_METRICS_PORT';
}

/** Listens, or fails with a sentence that names the variable to change. */
export async function listen(server: Server, listening: Listening): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      reject(new Error(sentenceOf(error, listening), { cause: error }));
    };
    server.once('error', fail);
    server.listen(listening.port, listening.host, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function sentenceOf({ code, message }: NodeJS.ErrnoException, { port, host, variable }: Listening): string {
  if (code === 'EADDRNOTAVAIL') return `HOST is ${host}, which is not an address of this machine.`;
  if (code === 'EADDRINUSE')
    return `${variable} is ${port}, where another process already listens. Set another port, or end that process.`;
  if (code === 'EACCES')
    return `${variable} is ${port}, where this user may not listen. Set a port above 1023.`;
  return `The port of ${variable} cannot be used: ${message}`;
}
