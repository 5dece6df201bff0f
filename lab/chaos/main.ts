import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { withParts } from '../world/program/parts.js';
import { runMain } from '../world/program/usage.js';
import { readOptions } from './command/options.js';
import { runFacilitators } from './facilitators/run.js';
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

/** Exits 0 when every check passed, 1 otherwise. */
await runMain(USAGE, async () => {
  const options = readOptions(process.argv.slice(2));
  const run = options.weight ? 'weight' : String(options.seed);
  const folder = path.join(projectRoot(), '.data', 'chaos', run);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711); // Postgres refuses to run as root, and runs as another user.
  const print = (text: string): void => void process.stdout.write(text);
  const start = options.weight ? runWeight : options.facilitators ? runFacilitators : runChaos;
  const violations = await withParts((parts) => start(options, { folder, parts, print }));
  if (violations.length === 0) return 0;
  print(`The journals and logs are in ${folder}.\n`);
  return 1;
});
