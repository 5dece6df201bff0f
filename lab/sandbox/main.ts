import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError, isProduction } from '../../shared/config/config.js';
import { runEntryPoint } from '../../shared/startup/entry-point.js';
import { isJsonObject } from '../../shared/values/json-object.js';
import { type Endpoints, findRunningSandbox, writeEndpoints } from './data-folder/endpoints.js';
import { takeLease } from './data-folder/lease.js';
import type { ExpectedKey } from './facilitator/serve.js';
import { EVM_BUYER_KEY } from './networks/wallets.js';
import { type Ports, type Sandbox, startSandbox } from './sandbox.js';

/**
 * The sandbox as a process: its one argument is a JSON object of settings, its first line of output the URLs. It ends
 * with the process that started it.
 */
interface Settings {
  folder: string;
  /** Set when the first facilitator requires the service's token. */
  key: ExpectedKey | undefined;
}

/** The ports are far enough apart for each to move to the next free one. */
const PORTS: Ports = {
  facilitator: 4022,
  secondFacilitator: 4122,
  baseSepolia: 8545,
  xLayerTestnet: 8645,
  solana: 8899,
};
const NAMES: Record<keyof Ports, string> = {
  facilitator: 'the facilitator',
  secondFacilitator: 'the second facilitator',
  baseSepolia: 'Base Sepolia',
  xLayerTestnet: 'X Layer Testnet',
  solana: 'Solana Devnet',
};
const JOINED = 'Another start of this checkout has the sandbox, and prints the webhooks.';
const PAUSE_MS = 100;

async function main(): Promise<void> {
  if (isProduction())
    throw new ConfigError('The sandbox is not for NODE_ENV=production: set FACILITATOR_URL.');
  const { folder, key } = readSettings(process.argv[2]);
  await mkdir(folder, { recursive: true });
  const lease = path.join(folder, 'lease');
  while (!takeLease(lease)) {
    const running = await findRunningSandbox(folder);
    if (running !== undefined) return announce(running, { joined: true, notes: [JOINED] });
    await pause(PAUSE_MS);
  }
  const sandbox = await startSandbox({ folder, ports: PORTS, key });
  stopOnSignal(sandbox);
  stopWhenAChainEnds(sandbox);
  const { id, facilitator, secondFacilitator, rpcUrls } = sandbox;
  const urls = { facilitator: facilitator.url, secondFacilitator: secondFacilitator.url };
  const endpoints = { id, ...urls, rpcUrls };
  await writeEndpoints(folder, endpoints);
  announce(endpoints, { joined: false, notes: describeMovedPorts(sandbox) });
}

function readSettings(argument = ''): Settings {
  const value: unknown = JSON.parse(argument);
  const { folder, key } = isJsonObject(value) ? value : {};
  if (typeof folder !== 'string') throw new Error('The sandbox needs a folder: it is started by npm start.');
  const { id, publicKey } = isJsonObject(key) ? key : {};
  const isKey = typeof id === 'string' && typeof publicKey === 'string';
  return { folder, key: isKey ? { id, publicKey } : undefined };
}

function announce(endpoints: Endpoints, how: { joined: boolean; notes: string[] }): void {
  process.stdout.write(`${JSON.stringify({ ...endpoints, buyerKey: EVM_BUYER_KEY, ...how })}\n`);
}

function describeMovedPorts({ facilitator, secondFacilitator, chains }: Sandbox): string[] {
  const urls = { ...chains, facilitator, secondFacilitator };
  return Object.entries(PORTS).flatMap(([name, wanted]) => {
    const part = name as keyof Ports;
    const { port } = new URL(urls[part].url);
    return Number(port) === wanted ? [] : [`Port ${wanted} is taken: ${NAMES[part]} listens on ${port}.`];
  });
}

/** Several signals stop it once. */
function stopOnSignal(sandbox: Sandbox): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    sandbox.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(String(error)),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** When one chain's process ends, the sandbox cannot answer correctly any more, so it stops. */
function stopWhenAChainEnds({ chains }: Sandbox): void {
  for (const { network, exited } of chains.evm) {
    void exited.then(() => fail(`The local chain ${network.name} has ended.`));
  }
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

await runEntryPoint(main);
