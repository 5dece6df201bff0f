import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startCollector } from '../../../lab/world/receiver/trace-collector.js';
import { openTracing } from '../../../shared/tracing/open-telemetry.js';
import { beginSpan } from '../../../shared/tracing/spans.js';
import { forAllTests } from '../../support/hooks.js';
import { loggerWithLines } from '../../support/log-lines.js';

/** More than the queue and the batch that leaves it hold. They end in one turn, so that no collector could take them. */
const TOO_MANY = 6000;
const ENOUGH = 4000;

describe('spans that come faster than the collector takes them', () => {
  const collector = forAllTests(startCollector);

  it('are dropped with one line, and another when all arrive again', async () => {
    const { logger, lines } = loggerWithLines();
    const tracing = openTracing(`${collector.url}/v1/traces`, 'checkout-web', logger);
    try {
      for (let n = 0; n < TOO_MANY; n += 1) beginSpan({ name: `span ${n}`, kind: 'server' })?.end();
      await eventually(() =>
        assert.deepEqual(
          lines.map(({ event, why }) => [event, why]),
          [
            ['traces.on', undefined],
            ['traces.not_arriving', 'more spans than it takes'],
            ['traces.arrive', undefined],
          ],
        ),
      );
    } finally {
      await tracing.close();
    }
    assert.ok(collector.spans.length > 0 && collector.spans.length < TOO_MANY, `${collector.spans.length}`);
  });

  it('are not said to be dropped while they all arrive', async () => {
    const { logger, lines } = loggerWithLines();
    const before = collector.spans.length;
    const tracing = openTracing(`${collector.url}/v1/traces`, 'checkout-web', logger);
    try {
      for (const arrived of [ENOUGH, 2 * ENOUGH]) {
        for (let n = 0; n < ENOUGH; n += 1) beginSpan({ name: `span ${n}`, kind: 'server' })?.end();
        await eventually(() => assert.equal(collector.spans.length - before, arrived));
      }
    } finally {
      await tracing.close();
    }
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['traces.on'],
    );
  });
});
