import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { EVM_BUYER_KEY } from '../../lab/sandbox/networks/wallets.js';
import { type Ran, StartedProcess } from '../../lab/world/processes/supervisor.js';
import { writeExampleEnvironment } from '../../local/demo/example-environment.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { openSandboxCheckout, type SandboxCheckout } from './sandbox-checkout.js';

const PAGE = readFileSync(path.join(projectRoot(), 'docs', 'integrate.md'), 'utf8');
const [, BLOCK = ''] = /## Examples\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(PAGE) ?? [];
/** The commands of docs/integrate.md. */
export const COMMANDS = BLOCK.trim()
  .split('\n')
  .map((line) => line.replace(/ +# .*/, ''));
const [EXPORT = ''] = COMMANDS;

/**
 * A sandbox checkout at the address that its links contain, with the examples' environment file that `npm start`
 * writes.
 */
export interface ExampleHost {
  checkout: SandboxCheckout;
  folder: string;
  /** The statuses of all answers, oldest first. */
  statuses: number[];
  /** Starts the page's command for this example, with `<link>` and exported variables replaced. */
  begin(example: string, link?: string, environment?: Record<string, string>): StartedProcess;
  run(example: string, link?: string, environment?: Record<string, string>): Promise<Ran>;
  newLink(amountTotalCents?: number): Promise<{ id: string; link: string }>;
  close(): Promise<void>;
}

export async function openExampleHost(environment: Record<string, string> = {}): Promise<ExampleHost> {
  const front = createServer();
  const baseUrl = await listen(front);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'examples-'));
  const checkout = await openSandboxCheckout({
    BASE_URL: baseUrl,
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    ...environment,
  });
  const statuses: number[] = [];
  front.on('request', (req, res) => {
    res.once('finish', () => statuses.push(res.statusCode));
    checkout.app.server.emit('request', req, res);
  });
  const facts = { baseUrl, testKey: checkout.merchant.testKey, buyerKey: EVM_BUYER_KEY };
  await writeExampleEnvironment(checkout.app.db, folder, facts);
  const host: ExampleHost = {
    checkout,
    folder,
    statuses,
    begin(example, link = '', changes = {}) {
      const command = COMMANDS.find((one) => one.includes(`examples/${example}`)) ?? '';
      const overrides = Object.entries(changes).map(([name, value]) => `export ${name}=${value}`);
      const script = [
        EXPORT.replace('.data', folder),
        ...overrides,
        // The shell is replaced by the program, so that a test can end a long-running one.
        `exec env ${command.replace('<link>', link).replace('http://localhost:4343/hooks', '$SHOP')}`,
      ];
      // PATH is the only environment variable.
      return new StartedProcess({ name: example, command: '/bin/sh', args: ['-ec', script.join('\n')] });
    },
    run: async (...how) => await host.begin(...how).ran(),
    async newLink(amountTotalCents) {
      const { id } = await checkout.buildSession(amountTotalCents === undefined ? {} : { amountTotalCents });
      return { id, link: `${baseUrl}/c/${id}` };
    },
    async close() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await checkout.close();
      await rm(folder, { recursive: true });
    },
  };
  return host;
}

export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
