/** Exits 0 when the process of this container is up. It checks web's port, or the port in the first argument. */
const port = process.argv[2] ?? process.env.PORT ?? '3000';

const isUp = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isUp ? 0 : 1);
