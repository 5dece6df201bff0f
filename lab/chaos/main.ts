import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { runFacilitators } from './facilitators/run.js';
import { type ChaosOptions, readOptions, UsageError } from './run/options.js';
import { runChaos } from './run/run.js';
import { runWeight } from './weight/run.js';

const USAGE = `npm run chaos -- [--payments N] [--seed S] [--minutes M] [--solana SHARE] [--failovers] [--clocks] [--limits] [--alike]
npm run chaos -- --facilitators [--payments N] [--seed S] [--solana SHARE]
npm run chaos -- --weight [--seconds N] [--mixture] [--only NAME]…

--payments  sessions to open and pay
--seed      draws the same purchases and faults again
--minutes   the longest time for which faults are injected
--solana    the share of buyers that pay on Solana, 0 to 1
--failovers promotes standbys without the last commits
--clocks    sets the clocks of Postgres, Redis and hosts
--limits    limits the calls a second of the chains' endpoints all the time
--alike     gives all purchases one price and a few wallets, which pay the refunds, too
--facilitators lets one of two facilitators die, hang, lie and be slow, on three EVM networks; with --solana on Solana, too
--weight    measures the load that one account and one address can put on others
--seconds   how long each heavy operation is measured
--mixture   measures only all heavy operations at once
--only      measures only the heavy operations that have this in their name; may be repeated
`;

/** Exits 0 when every check passed, 1 otherwise. A signal leaves no process behind. */
async function main(): Promise<number> {
  const options = parse();
  if (options === undefined) return 1;
  const run = options.weight ? 'weight' : String(options.seed);
  const folder = path.join(projectRoot(), '.data', 'chaos', run);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711); // Postgres refuses to run as root, and runs as another user.
  const parts: { stop(): Promise<void> }[] = [];
  let isStopped = false;
  const stopAll = async (): Promise<void> => {
    isStopped = true;
    for (const part of parts.reverse().splice(0)) await part.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143)));
  }
  try {
    const around = {
      folder,
      print: (text: string) => void process.stdout.write(text),
      opened: (part: { stop(): Promise<void> }) => (isStopped ? void part.stop() : void parts.push(part)),
    };
    const violations = await (options.weight
      ? runWeight({ ...options, ...around })
      : options.facilitators
        ? runFacilitators({ ...options, ...around })
        : runChaos(options, around));
    if (violations.length === 0) return 0;
    process.stdout.write(`The journals and logs are in ${folder}.\n`);
    return 1;
  } finally {
    if (isStopped) await new Promise(() => undefined); // The signal's handler ends this process.
    await stopAll();
  }
}

function parse(): ChaosOptions | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}`);
    return undefined;
  }
}

process.exit(await main());
