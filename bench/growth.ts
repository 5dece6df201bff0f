import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { runEntryPoint } from '../shared/entry-point.js';
import { type Medians, measure } from './growth/measure.js';

/**
 * `node --import tsx bench/growth.ts --small <url> --big <url> [--redis <url>] [--times N]`: medians on two databases
 * that bench/seed.ts has filled, one with next to nothing. They are asked in turn, so that a noisy moment meets both.
 */
const ROUNDS = 3;
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
  const rounds: { small: Medians; big: Medians }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const on = (databaseUrl: string) =>
      measure({ databaseUrl, redisUrl: redis, facilitatorUrl }, Number(times));
    rounds.push({ small: await on(small), big: await on(big) });
  }
  facilitator.closeAllConnections();
  facilitator.close();
  for (const name of Object.keys(rounds[0]?.small ?? {})) {
    const best = (which: 'small' | 'big'): number =>
      Math.min(...rounds.map((round) => round[which][name] ?? 0));
    const [before, after] = [best('small'), best('big')];
    const cells = [name.padEnd(34), before.toFixed(2).padStart(8), after.toFixed(2).padStart(8)];
    process.stdout.write(`${cells.join(' ms')} ms  ×${(after / before).toFixed(2)}\n`);
  }
});
