import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { runToEnd } from '../../local/toolchain/run-to-end.mjs';
import { MUTANTS, type Mutant } from './mutants.js';

/**
 * Plants each fault of mutants.ts in a copy of the project and expects its spec to fail there. Words on the command line
 * choose the mutants whose name holds one of them.
 */
const root = projectRoot();
const copy = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-mutants-'));

async function copyProject(): Promise<void> {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter(Boolean))
    await cp(path.join(root, file), path.join(copy, file), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
}

/** Mocha's exit code is the number of its failures. */
async function run(spec: string): Promise<number> {
  const mocha = path.join('node_modules', 'mocha', 'bin', 'mocha.js');
  const args = [mocha, '--no-parallel', '--bail', '--reporter', 'dot', spec];
  return await runToEnd(process.execPath, args, { cwd: copy });
}

async function plant({ file, from, to }: Mutant): Promise<() => Promise<void>> {
  const place = path.join(copy, file);
  const text = await readFile(place, 'utf8');
  await writeFile(
    place,
    text.replace(from, () => to),
  );
  return () => writeFile(place, text);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const words = process.argv.slice(2);
const chosen = MUTANTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
let missed = 0;
try {
  await copyProject();
  for (const spec of new Set(chosen.map((mutant) => mutant.spec))) {
    if ((await run(spec)) === 0) continue;
    missed += 1;
    print(`✖ ${spec} fails without a mutant`);
  }
  for (const mutant of chosen) {
    const restore = await plant(mutant);
    const isNoticed = (await run(mutant.spec)) !== 0;
    await restore();
    if (!isNoticed) missed += 1;
    print(`${isNoticed ? '✔' : '✖'} ${mutant.name}: ${mutant.spec}${isNoticed ? '' : ' does not fail'}`);
  }
  print(`${chosen.length} mutants, ${missed} not noticed`);
} finally {
  await rm(copy, { recursive: true, force: true });
}
process.exitCode = missed === 0 && chosen.length > 0 ? 0 : 1;
