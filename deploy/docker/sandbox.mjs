import { spawn } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { relay } from './relay.mjs';

/**
 * The sandbox answers only its own machine. In a container this relay forwards requests of other containers to it, and
 * forwards its own requests for payment links to web.
 */
const LOOPBACK = '127.0.0.1';
const PORTS = [4022, 4122, 8545, 8645, 8899];
const WEB = { host: process.env.WEB_HOST ?? 'web', port: 3000 };

const root = fileURLToPath(new URL('../..', import.meta.url));
const settings = JSON.stringify({ folder: `${root}.data/sandbox` });
const sandbox = spawn(process.execPath, ['--import', 'tsx', 'lab/sandbox/main.ts', settings], {
  cwd: root,
  stdio: 'inherit',
});
let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'])
  process.on(signal, () => {
    isStopping = true;
    sandbox.kill(signal);
  });
sandbox.on('exit', (code) => process.exit(isStopping ? 0 : (code ?? 1)));

const own = Object.values(networkInterfaces()).flat();
for (const { address } of own.filter(({ family, internal }) => family === 'IPv4' && !internal)) {
  for (const port of PORTS) await relay({ from: { host: address, port }, to: { host: LOOPBACK, port } });
}
await relay({ from: { host: LOOPBACK, port: WEB.port }, to: WEB });
