import { createPublicKey } from 'node:crypto';
import path from 'node:path';
import { withResolvers } from '../../shared/process/with-resolvers.js';
import type { FacilitatorAuth } from '../../shared/secrets/facilitator-secret.js';
import { parseFacilitatorSecret } from '../../shared/secrets/facilitator-secret.js';
import { dataFolder } from '../postgres/local-database.js';
import { type GuardedProcess, spawnGuarded } from '../toolchain/guarded-process.js';
import { projectRoot } from '../toolchain/project-root.js';
import { type SandboxUrls, sandboxSettings } from './running-sandbox.js';

/**
 * The sandbox is a process of its own: no build contains it, and its dependencies need not be installed in production. The
 * service knows only these variables of it.
 */
export interface SandboxProcess {
  environment: Record<string, string>;
  /** The URL of a picture for the demo order. */
  picture: string;
  /** The key of a wallet that holds money there. */
  buyerKey: string;
  /** Another start owns the sandbox, and receives the merchant's webhooks. */
  joined: boolean;
  /** Remarks about the start for the user. */
  notes: string[];
  /** Resolves with the last output when it ends by itself; never when another start's sandbox is used. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/** `auth`: the sandbox's first facilitator asks for tokens of the kind `svc`, and of no other. */
export async function startSandboxProcess(auth: FacilitatorAuth): Promise<SandboxProcess> {
  const root = projectRoot();
  const folder = path.join(dataFolder(), 'sandbox');
  const key = auth.kind === 'svc' ? { id: auth.id, publicKey: publicKeyOf(auth.secret) } : undefined;
  const settings = JSON.stringify({ folder, key });
  // `npm start` has bundled it.
  const program = path.join(root, 'dist', 'programs', 'lab', 'sandbox', 'main.js');
  const { promise: announced, resolve: announce } = withResolvers<string>();
  let output = '';
  const child = spawnGuarded(process.execPath, [program, settings], {
    onOutput(text) {
      output = (output + text).slice(-4000);
      const line = output
        .split('\n')
        .find((candidate, index, lines) => candidate.startsWith('{') && index < lines.length - 1);
      if (line !== undefined) announce(line);
    },
  });
  const line = await firstOf(announced, child);
  child.unref();
  const announcement = readAnnouncement(line);
  let stopped = false;
  return {
    ...announcement,
    ended: new Promise((resolve) => {
      void child.exited.then((code) => {
        if (!stopped && code !== 0) resolve(child.recentOutput().split('\n').at(-1) ?? '');
      });
    }),
    async stop() {
      stopped = true;
      await child.stop();
    },
  };
}

async function firstOf(announced: Promise<string>, child: GuardedProcess): Promise<string> {
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('The sandbox did not start in time.')));
  });
  const ended = child.exited.then(() => {
    throw new Error(`The sandbox did not start: set FACILITATOR_URL to do without.\n${child.recentOutput()}`);
  });
  return await Promise.race([announced, ended, late]);
}

interface Announcement extends SandboxUrls {
  buyerKey: string;
  joined: boolean;
  notes: string[];
}

function readAnnouncement(line: string): Omit<SandboxProcess, 'ended' | 'stop'> {
  const { buyerKey, joined, notes, ...urls }: Announcement = JSON.parse(line);
  const environment = {
    ...sandboxSettings(urls),
    // Wallets of the sandbox for buyers without one.
    PAGE_SCRIPT_URL: `${urls.facilitator}/sandbox/wallets.js`,
    // The sandbox's chain opens a merchant's token account at its first payment.
    CHECK_TOKEN_ACCOUNTS: 'false',
  };
  const picture = `${urls.facilitator}/sandbox/coffee.png`;
  return { environment, picture, buyerKey, joined, notes };
}

/** Other users can read a process's arguments, so they contain the public key. */
function publicKeyOf(secret: string): string {
  const publicKey = createPublicKey(parseFacilitatorSecret('svc', secret));
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
}
