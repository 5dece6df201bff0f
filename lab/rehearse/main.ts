import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { rehearse } from './run/run.js';

const DEFAULT_SECONDS = 15;

/** Exits 0 when no request was lost, every disaster was heard and no other alert fired, 1 otherwise. A signal leaves no process behind. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string' }, short: { type: 'boolean', default: false } },
  });
  const seconds = Number(values.seconds ?? DEFAULT_SECONDS);
  if (!(seconds > 0)) {
    process.stderr.write('npm run rehearse -- [--seconds N] [--short]: N is a number above 0.\n');
    return 1;
  }
  const folder = path.join(projectRoot(), '.data', 'rehearsal');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const parts: { stop(): Promise<void> }[] = [];
  const stopAll = async (): Promise<void> => {
    for (const part of parts.reverse().splice(0)) await part.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143)));
  }
  try {
    const print = (text: string): void => void process.stdout.write(text);
    const wrong = await rehearse({
      seconds,
      isShort: values.short,
      folder,
      print,
      opened: (part) => parts.push(part),
    });
    if (wrong.length > 0) print(`WRONG:\n${wrong.join('\n')}\n`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    await stopAll();
  }
}

process.exit(await main());
