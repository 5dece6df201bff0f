import type { Sandbox } from '../../lab/sandbox/sandbox.js';
import { closeAfterFile } from './suite.js';

/** The sandbox of `npm start`, opened by the first test of a file that needs it. */
let opening: Promise<Sandbox> | undefined;

export async function testSandbox(): Promise<Sandbox> {
  opening ??= open();
  return await opening;
}

async function open(): Promise<Sandbox> {
  // The sandbox is imported late: x402's packages and the chains take a second to load, which most files do not need.
  const { startSandbox } = await import('../../lab/sandbox/sandbox.js');
  const sandbox = await startSandbox();
  closeAfterFile(async () => {
    opening = undefined;
    await sandbox.stop();
  });
  return sandbox;
}

/** Turns all faults off and the facilitators on. */
export async function resetTestSandbox(): Promise<void> {
  const { NO_FAULTS } = await import('../../lab/sandbox/dials/dials.js');
  const sandbox = await testSandbox();
  sandbox.chains.solana.ledger.dropPending();
  for (const facilitator of [sandbox.facilitator, sandbox.secondFacilitator]) {
    await sandbox.turn(NO_FAULTS, facilitator);
    await facilitator.revive();
  }
}

/** The environment of a process that uses the sandbox with its first facilitator. */
export function sandboxEnvironment({ facilitator, rpcUrls }: Sandbox): Record<string, string> {
  const urls = Object.entries(rpcUrls).map(([network, url]) => [`RPC_URL_${network}`, url] as const);
  return { FACILITATOR_URL: facilitator.url, CHECK_TOKEN_ACCOUNTS: 'false', ...Object.fromEntries(urls) };
}
