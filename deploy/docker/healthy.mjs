/** Exits 0 when the process of this container is up. It checks web's port, or the port in the first argument. */
const [, , workerPort] = process.argv;
const port = workerPort ?? process.env.PORT ?? '3000';
const host = (workerPort === undefined && process.env.HOST) || '127.0.0.1';

const isUp = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${port}/healthz`, {
  signal: AbortSignal.timeout(4000),
}).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isUp ? 0 : 1);
