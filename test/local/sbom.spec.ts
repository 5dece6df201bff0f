import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from '../../lab/world/processes/supervisor.js';

const ROOT = path.join(import.meta.dirname, '..', '..');

interface Component {
  name: string;
  version: string;
  hashes?: { alg: string }[];
}

interface Bom {
  bomFormat: string;
  specVersion: string;
  metadata: { component: { name: string } };
  components: Component[];
}

describe('npm run sbom', () => {
  it('prints the production tree as CycloneDX, from the lock file alone', async () => {
    const bom: Bom = JSON.parse(await runProgram({ command: 'npm', args: ['run', '-s', 'sbom'] }));
    assert.equal(bom.bomFormat, 'CycloneDX');
    assert.match(bom.specVersion, /^1\.\d$/);
    assert.equal(bom.metadata.component.name, 'stablecoin-checkout');
    const { packages }: { packages: Record<string, { version: string; dev?: boolean }> } = JSON.parse(
      readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
    );
    const installed = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true);
    const expected = installed.map(
      ([place, { version }]) => `${place.replace(/^.*node_modules\//, '')}@${version}`,
    );
    const listed = bom.components.map(({ name, version }) => `${name}@${version}`);
    assert.ok(expected.length > 200);
    assert.deepEqual([...new Set(listed)].sort(), [...new Set(expected)].sort());
    for (const { name, hashes } of bom.components) assert.equal(hashes?.[0]?.alg, 'SHA-512', name);
  });
});
