import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { withParts } from '../world/program/parts.js';
import { runMain } from '../world/program/usage.js';
import { readOptions, USAGE } from './command/options.js';
import { runFacilitators } from './facilitators/run.js';
import { runChaos } from './run/run.js';
import { runWeight } from './weight/run.js';

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
