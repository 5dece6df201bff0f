import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { pick, type Random } from '../../world/chance/seeded-random.js';
import { type Reply, ServiceClient } from '../actors/service-client.js';
import { STEADY_ENDPOINT, type Stage } from '../stage/stage.js';
import type { Fault } from './fault.js';

/** The merchant's webhook endpoints: one stays as it is; others come, are disabled and enabled, and are deleted. */
interface Endpoint {
  name: string;
  id: string;
  isEnabled: boolean;
}

const MOST_ENDPOINTS = 4;
const PATIENCE_MS = 300_000;

/** Gives what changes nothing of it, in a transaction. */
export async function addSteadyEndpoint(stage: Stage, random: Random): Promise<() => Promise<void>> {
  const { id } = await add(stage, random, STEADY_ENDPOINT);
  return async () => {
    await request(stage, random, 'POST', `/${id}`, { description: `the steady one, ${random()}` });
  };
}

export function changeEndpoints(): Fault {
  const endpoints: Endpoint[] = [];
  let added = 0;
  return {
    everyMs: 3000,
    async strike(stage, random) {
      if (endpoints.length === 0 || (endpoints.length < MOST_ENDPOINTS && random() < 0.3)) {
        added += 1;
        const endpoint = await add(stage, random, `other-${added}`);
        endpoints.push(endpoint);
        return { fault: 'endpoint added', detail: endpoint.name };
      }
      const endpoint = pick(random, endpoints);
      if (random() < 0.3) {
        endpoints.splice(endpoints.indexOf(endpoint), 1);
        await request(stage, random, 'DELETE', `/${endpoint.id}`);
        stage.journals.endpoints.write({
          kind: 'endpoint',
          at: nowMs(),
          endpoint: endpoint.name,
          is: 'deleted',
        });
        return { fault: 'endpoint deleted', detail: endpoint.name };
      }
      endpoint.isEnabled = !endpoint.isEnabled;
      const is = endpoint.isEnabled ? 'enabled' : 'disabled';
      // Written before it is enabled and after it is disabled: what comes in between may come.
      const write = (): void =>
        stage.journals.endpoints.write({ kind: 'endpoint', at: nowMs(), endpoint: endpoint.name, is });
      if (endpoint.isEnabled) write();
      await request(stage, random, 'POST', `/${endpoint.id}`, { disabled: !endpoint.isEnabled });
      if (!endpoint.isEnabled) write();
      return { fault: `endpoint ${is}`, detail: endpoint.name };
    },
  };
}

async function add(stage: Stage, random: Random, name: string): Promise<Endpoint> {
  const { body } = await request(stage, random, 'POST', '', { url: `${stage.hooksUrl}/${name}` });
  stage.receiver.order('learn', { endpoint: name, secret: String(body.secret) });
  stage.journals.endpoints.write({ kind: 'endpoint', at: nowMs(), endpoint: name, is: 'enabled' });
  return { name, id: String(body.id), isEnabled: true };
}

/** Until it is answered; a DELETE that is answered 404 was carried out before. */
async function request(
  { webs, key, journals }: Stage,
  random: Random,
  method: string,
  path: string,
  body?: object,
): Promise<Reply> {
  const client = new ServiceClient({ webs, random, write: (answer) => journals.endpoints.write(answer) });
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const givesUpAt = nowMs() + PATIENCE_MS;
  for (;;) {
    const reply = await client.send(`/v1/webhook_endpoints${path}`, init, { request: 'endpoint' });
    if (reply.status === 200 || (method === 'DELETE' && reply.status === 404)) return reply;
    if (nowMs() > givesUpAt)
      throw new Error(`${method} /v1/webhook_endpoints${path} answers ${reply.status}`);
    await sleep(reply.retryAfterMs);
  }
}
