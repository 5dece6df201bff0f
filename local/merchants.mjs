import { existsSync } from 'node:fs';
import { ensureReady } from './ensure-ready.mjs';

const cli = new URL('../dist/cli/merchants.js', import.meta.url);

// A production machine runs what was put there.
if (process.env.NODE_ENV !== 'production') await ensureReady();

if (existsSync(cli)) {
  const { start } = await import(cli.href);
  process.exitCode = await start(process.argv.slice(2));
} else {
  process.stderr.write('There is no build here: run "npm run build" first.\n');
  process.exitCode = 1;
}
