import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cli = new URL('../../dist/cli/merchants.js', import.meta.url);

/**
 * Installs nothing, and replaces no build: this may be the folder that web and workers run from. A production machine
 * may have no other part of the folder than its build.
 */
async function prepare() {
  if (process.env.NODE_ENV?.trim() === 'production') return undefined;
  if (!existsSync(new URL('../../node_modules', import.meta.url)))
    return 'The packages are not installed here: run "npm ci" first.';
  const { buildIfNone, isBuilt } = await import('../build/ensure-built.mjs');
  await buildIfNone(root);
  if (!isBuilt(root))
    process.stderr.write('The build here is older than its sources: "npm run build" brings it up to date.\n');
  return undefined;
}

const problem =
  (await prepare()) ?? (existsSync(cli) ? undefined : 'There is no build here: run "npm run build" first.');
if (problem === undefined) {
  const { start } = await import(cli.href);
  process.exitCode = await start(process.argv.slice(2));
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
