import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { withParts } from '../world/program/parts.js';
import { asUsage, readNumber, runMain } from '../world/program/usage.js';
import { rehearse } from './run/run.js';

const USAGE = 'npm run rehearse -- [--seconds N] [--short]\n';
const DEFAULT_SECONDS = 15;

/** Exits 0 when no request was lost, every disaster was heard and no other alert fired, 1 otherwise. */
await runMain(USAGE, async () => {
  const options = { seconds: { type: 'string' }, short: { type: 'boolean', default: false } } as const;
  const { values } = asUsage(() => parseArgs({ options }));
  const seconds = readNumber('seconds', values.seconds, DEFAULT_SECONDS);
  const folder = path.join(projectRoot(), '.data', 'rehearsal');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const print = (text: string): void => void process.stdout.write(text);
  const isShort = values.short;
  const wrong = await withParts((parts) => rehearse({ seconds, isShort, print }, { folder, parts }));
  if (wrong.length > 0) print(`WRONG:\n${wrong.join('\n')}\n`);
  return wrong.length === 0 ? 0 : 1;
});
