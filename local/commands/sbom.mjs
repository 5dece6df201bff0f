import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The production dependencies as CycloneDX, written by npm. `npm sbom --omit dev` also omits packages that both
 * production and a development tool need, so npm gets a lock file without the development tools.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name) => JSON.parse(readFileSync(path.join(root, name), 'utf8'));

const { devDependencies: _, ...manifest } = read('package.json');
const { packages, ...lock } = read('package-lock.json');
const { devDependencies: __, ...own } = packages[''];
const installed = Object.entries(packages).filter(([place, { dev }]) => place !== '' && !dev);

const folder = mkdtempSync(path.join(os.tmpdir(), 'sbom-'));
try {
  // npm names the project after its folder.
  const project = path.join(folder, manifest.name);
  mkdirSync(project);
  const write = (name, value) => writeFileSync(path.join(project, name), JSON.stringify(value));
  write('package.json', manifest);
  write('package-lock.json', { ...lock, packages: { '': own, ...Object.fromEntries(installed) } });
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'inherit', 'inherit'] });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
