import { type Config, isSet, readConfig } from '../../shared/config/config.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { dataFolder, startLocalDatabase } from '../postgres/local-database.js';
import { choosePort, describeChoice, type HeldPort, requireFreePort } from '../toolchain/choose-port.js';
import { localEncryptionKey, localReceiptSigningKey } from './local-keys.js';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.js';

/** Defaults for settings that the environment leaves out, and the parts that were started for them. */
interface Defaults {
  defaults: Record<string, string>;
  sandbox: SandboxProcess | undefined;
  /** The port of web, which listens on it right after its release. */
  held: HeldPort;
}

const LATER = { DATABASE_URL: 'postgres://later', FACILITATOR_URL: 'http://later' };

/** Each started part is pushed to `open` at once, so that it is closed even if a later step fails. */
export async function startDefaults(open: Closable[], say: (line: string) => void): Promise<Defaults> {
  // Invalid settings are reported before anything starts.
  const config = readConfig('web', LATER);
  const needsDatabase = !isSet('DATABASE_URL');
  const needsSandbox = !isSet('FACILITATOR_URL');
  const { held, notes } = await decidePort(config);
  open.push({ close: () => held.release() });
  const parts = [
    ...(needsDatabase ? ['the database'] : []),
    ...(needsSandbox ? ['local chains and two facilitators (FACILITATOR_URL is not set)'] : []),
  ];
  if (parts.length > 0) say(`Starting ${parts.join(', ')} …`);
  const [database, sandbox] = await startBoth(
    needsDatabase ? startDatabase(open) : Promise.resolve({}),
    needsSandbox ? startSandbox(config, open) : Promise.resolve(undefined),
  );
  const defaults = {
    LOG_LEVEL: 'warn',
    PORT: `${held.port}`,
    BASE_URL: `http://localhost:${held.port}`,
    ...(!isSet('ENCRYPTION_KEY') && { ENCRYPTION_KEY: await localEncryptionKey(dataFolder()) }),
    ...(!isSet('RECEIPT_SIGNING_KEYS') && {
      RECEIPT_SIGNING_KEYS: await localReceiptSigningKey(dataFolder()),
    }),
    ...database,
    ...sandbox?.environment,
  };
  for (const note of [...notes, ...(sandbox?.notes ?? [])]) say(note);
  if (sandbox === undefined || isSet('WEBHOOK_ALLOW_PRIVATE_NETWORKS')) return { defaults, sandbox, held };
  const example = sandbox.joined ? '' : ', as the one below does';
  say(`Webhooks may go to private addresses (WEBHOOK_ALLOW_PRIVATE_NETWORKS=true)${example}.`);
  return { defaults: { ...defaults, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }, sandbox, held };
}

async function decidePort(config: Config): Promise<{ held: HeldPort; notes: string[] }> {
  if (isSet('PORT')) return { held: await requireFreePort(config.port), notes: [] };
  const held = await choosePort();
  return { held, notes: describeChoice(held.port) };
}

async function startDatabase(open: Closable[]): Promise<{ DATABASE_URL: string }> {
  const database = await startLocalDatabase();
  open.push({ close: () => database.stop() });
  return { DATABASE_URL: database.url };
}

async function startSandbox(config: Config, open: Closable[]): Promise<SandboxProcess> {
  const sandbox = await startSandboxProcess(config.facilitators[0]?.auth ?? { kind: 'none' });
  open.push({ close: () => sandbox.stop() });
  return sandbox;
}

/** When one fails, the other is awaited: it has to be closed. */
async function startBoth<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}
