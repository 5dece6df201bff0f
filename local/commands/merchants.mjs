import { existsSync } from 'node:fs';

const cli = new URL('../../dist/cli/merchants.js', import.meta.url);

// A production machine runs its build, and may have no other part of this folder.
if (process.env.NODE_ENV !== 'production') {
  const { ensureReady } = await import('./ensure-ready.mjs');
  await ensureReady();
}

if (existsSync(cli)) {
  const { start } = await import(cli.href);
  process.exitCode = await start(process.argv.slice(2));
} else {
  process.stderr.write('There is no build here: run "npm run build" first.\n');
  process.exitCode = 1;
}
