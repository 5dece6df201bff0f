import assert from 'node:assert/strict';
import { affectedSpecs } from '../../support/affected-specs.js';
import { readSources, type Source } from '../../support/source-graph.js';

describe('npm test -- --changed', () => {
  const sources: Source[] = [
    source('shared/a.ts'),
    source('shared/b.ts', ['shared/a.ts']),
    source('test/a.spec.ts', ['shared/a.ts']),
    source('test/b.spec.ts', ['test/support/helper.ts']),
    source('test/support/helper.ts', ['shared/b.ts']),
    source('test/other.spec.ts', ['shared/c.ts']),
    source('test/program.spec.ts', [], "start(path.join(ROOT, 'api', 'server.ts'))"),
    source('test/built.spec.ts', [], "run('dist/workers/main.js')"),
    source('test/entry.spec.ts', [], "startProcess('api/server')"),
    source('test/pages.spec.ts', [], "readdir(path.join(ROOT, 'docs'))"),
    source('test/docs.spec.ts'),
  ];
  const chosen: Record<string, { changed: string[]; specs: string[] }> = {
    'imports a changed file, directly or through others': {
      changed: ['shared/a.ts'],
      specs: ['test/a.spec.ts', 'test/b.spec.ts'],
    },
    'is changed itself': { changed: ['test/other.spec.ts'], specs: ['test/other.spec.ts'] },
    'starts a changed program': {
      changed: ['api/server.ts'],
      specs: ['test/program.spec.ts', 'test/entry.spec.ts'],
    },
    'runs the build of a changed file': { changed: ['workers/main.ts'], specs: ['test/built.spec.ts'] },
    'reads a folder with a changed page': { changed: ['docs/page.md'], specs: ['test/pages.spec.ts'] },
    'imports a file that was deleted': { changed: ['shared/c.ts'], specs: ['test/other.spec.ts'] },
  };
  for (const [title, { changed, specs }] of Object.entries(chosen)) {
    it(`runs a spec that ${title}, and those that read everything`, () => {
      assert.deepEqual(affectedSpecs(sources, changed), [...specs, 'test/docs.spec.ts']);
    });
  }

  it('runs nothing without a change', () => {
    assert.deepEqual(affectedSpecs(sources, []), []);
  });

  it('finds in this repository the specs of a file, and few others', () => {
    const specs = affectedSpecs(readSources(), ['lab/chaos/check/check-money.ts']);
    assert.ok(specs.includes('test/unit/chaos/checkers.spec.ts'));
    assert.ok(specs.length < 10, specs.join(', '));
  });
});

function source(file: string, imports: string[] = [], text = ''): Source {
  return { file, imports, text };
}
