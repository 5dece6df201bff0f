/** The server's time in Unix seconds: clocks of buyers are often wrong, and signatures hold expiry times. */
export interface ServerClock {
  now(): number;
  sync(serverSeconds: number): void;
}

export function createServerClock(serverSeconds: number): ServerClock {
  let offset = serverSeconds - performance.now() / 1000;
  return {
    now: () => offset + performance.now() / 1000,
    sync(seconds) {
      offset = seconds - performance.now() / 1000;
    },
  };
}
