import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { createPublicClient, http } from 'viem';
import { type GuardedProcess, spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { findFreePort } from '../../world/http/listen.js';

interface Anvil {
  url: string;
  /** Resolves when anvil has ended, by itself or by stop(). */
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
}

interface AnvilOptions {
  chainId: number;
  /** Persists the chain between two starts; without it the chain lives in memory. */
  stateFile?: string | undefined;
}

const START_TIMEOUT_MS = 20_000;
const ATTEMPTS = 5;
/** How many blocks' states anvil keeps. A chain check asks for the newest block's. */
const STATES_KEPT = 256;
/** A chain whose process is killed loses at most the last seconds. */
const SAVE_EVERY_SECONDS = 5;
/** Anvil can be told to fetch any address, with this machine's access. A proxy that does not exist blocks that. */
const BLOCKED_PROXY = 'http://127.0.0.1:1';
const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HTTP_PROXY: BLOCKED_PROXY,
  HTTPS_PROXY: BLOCKED_PROXY,
  ALL_PROXY: BLOCKED_PROXY,
};

/** The URL is for this process alone: anvil obeys any caller. */
export async function startAnvil({ chainId, stateFile }: AnvilOptions): Promise<Anvil> {
  let lastOutput = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const host = hiddenHost();
    const port = await findFreePort();
    const url = `http://${host}:${port}`;
    const args = ['--host', host, '--port', `${port}`, '--no-cors', '--chain-id', `${chainId}`, '--quiet'];
    args.push('--prune-history', `${STATES_KEPT}`);
    if (stateFile !== undefined) args.push('--state', stateFile, '--state-interval', `${SAVE_EVERY_SECONDS}`);
    const program = spawnGuarded(findProgram(), args, { environment: ENVIRONMENT });
    program.unref();
    if (await answers(program, url)) return { url, exited: program.exited, stop: () => program.stop() };
    lastOutput = program.recentOutput();
    await program.stop();
    if (/address already in use/i.test(lastOutput)) continue;
    // A crash while anvil wrote the file leaves it truncated.
    if (stateFile === undefined || !existsSync(stateFile)) break;
    await rename(stateFile, `${stateFile}.unreadable`);
  }
  throw new Error(
    `anvil, the local EVM chain, did not start: set FACILITATOR_URL to do without.\n${lastOutput}`,
  );
}

/**
 * Anvil listens on a random loopback address where the system has several, so that a web page that scans ports does not
 * find it.
 */
function hiddenHost(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return `127.${[0, 1, 2].map(() => randomInt(1, 255)).join('.')}`;
}

async function answers(program: GuardedProcess, url: string): Promise<boolean> {
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }) });
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  while (!program.hasExited() && !timeout.aborted) {
    try {
      await client.getChainId();
      return !program.hasExited();
    } catch {
      await pause(10);
    }
  }
  return false;
}

/** The package's own launcher would not forward the signals that stop anvil. */
function findProgram(): string {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const launcher = createRequire(require.resolve('@foundry-rs/anvil/package.json'));
    return launcher.resolve(`@foundry-rs/anvil-${platform}/bin/anvil`);
  } catch {
    throw new Error(`There is no local EVM chain for ${platform}: set FACILITATOR_URL to do without.`);
  }
}
