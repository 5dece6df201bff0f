import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { runEntryPoint } from '../shared/entry-point.js';
import { openSubject } from './growth/measure.js';
import { medians } from './growth/medians.js';

/**
 * `node --import tsx bench/growth.ts --small <url> --big <url> [--redis <url>] [--times N]`: medians on two databases
 * that bench/seed.ts has filled, one with next to nothing. They are asked in turn, request by
 * request, so that a noisy moment meets both.
 */
const SUPPORTED = { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }] };

await runEntryPoint(async () => {
  const { values } = parseArgs({
    options: {
      small: { type: 'string' },
      big: { type: 'string' },
      redis: { type: 'string' },
      times: { type: 'string', default: '500' },
    },
    strict: true,
  });
  const { small, big, redis, times } = values;
  if (small === undefined || big === undefined) throw new Error('--small and --big are needed.');
  const facilitator = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(SUPPORTED));
  });
  await new Promise<void>((resolve) => facilitator.listen(0, '127.0.0.1', resolve));
  const facilitatorUrl = `http://127.0.0.1:${(facilitator.address() as AddressInfo).port}`;
  const openFor = (databaseUrl: string) => openSubject({ databaseUrl, redisUrl: redis, facilitatorUrl });
  const subjects = [await openFor(small), await openFor(big)];
  for (const name of Object.keys(subjects[0]?.acts ?? {})) {
    const [before = 0, after = 0] = await medians(
      subjects.flatMap(({ acts }) => acts[name] ?? []),
      Number(times),
    );
    const cells = [name.padEnd(34), before.toFixed(2).padStart(8), after.toFixed(2).padStart(8)];
    process.stdout.write(`${cells.join('')} ms  ×${(after / before).toFixed(2)}\n`);
  }
  for (const subject of subjects) await subject.close();
  facilitator.closeAllConnections();
  facilitator.close();
});
