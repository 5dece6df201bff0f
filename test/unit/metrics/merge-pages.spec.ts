import assert from 'node:assert/strict';
import { mergePages } from '../../../shared/metrics/merge-pages.js';

const page = (worker: string, memory: number): string => `# HELP memory How much.
# TYPE memory gauge
memory{worker="${worker}"} ${memory}

# HELP calls_seconds How long.
# TYPE calls_seconds histogram
calls_seconds_bucket{le="+Inf",worker="${worker}"} 2
calls_seconds_count{worker="${worker}"} 2
`;

describe('metrics pages', () => {
  it('are merged into one, with each metric once and all series', () => {
    const own = '# HELP memory How much.\n# TYPE memory gauge\nmemory 1\n';
    assert.equal(
      mergePages([own, page('a', 2), page('b', 3)]),
      `# HELP memory How much.
# TYPE memory gauge
memory 1
memory{worker="a"} 2
memory{worker="b"} 3

# HELP calls_seconds How long.
# TYPE calls_seconds histogram
calls_seconds_bucket{le="+Inf",worker="a"} 2
calls_seconds_count{worker="a"} 2
calls_seconds_bucket{le="+Inf",worker="b"} 2
calls_seconds_count{worker="b"} 2
`,
    );
  });

  it('may have metrics without series, and may be a single page', () => {
    const empty = '# HELP calls How many.\n# TYPE calls counter\n';
    assert.equal(mergePages([empty]), empty);
    assert.equal(mergePages([empty, `${empty}calls{worker="a"} 1\n`]), `${empty}calls{worker="a"} 1\n`);
  });
});
