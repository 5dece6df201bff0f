import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { pick, type Random } from '../../world/chance/seeded-random.js';
import { type Reply, ServiceClient } from '../purchases/service-client.js';
import { STEADY_ENDPOINT, type System } from '../system/system.js';
import type { Fault } from './fault.js';

/**
 * The merchant's webhook endpoints: the steady one never changes; others are created, disabled, enabled and deleted.
 */
interface Endpoint {
  name: string;
  id: string;
  isEnabled: boolean;
}

const MOST_ENDPOINTS = 4;
const TIMEOUT_MS = 300_000;

/** Returns a function that updates the steady endpoint, in a transaction, without changing it. */
export async function addSteadyEndpoint(system: System, random: Random): Promise<() => Promise<void>> {
  const { id } = await add(system, random, STEADY_ENDPOINT);
  return async () => {
    await request(system, random, 'POST', `/${id}`, { description: `the steady one, ${random()}` });
  };
}

export function changeEndpoints(): Fault {
  const endpoints: Endpoint[] = [];
  let added = 0;
  return {
    everyMs: 3000,
    async inject(system, random) {
      if (endpoints.length === 0 || (endpoints.length < MOST_ENDPOINTS && random() < 0.3)) {
        added += 1;
        const endpoint = await add(system, random, `other-${added}`);
        endpoints.push(endpoint);
        return { fault: 'endpoint added', detail: endpoint.name };
      }
      const endpoint = pick(random, endpoints);
      if (random() < 0.3) {
        endpoints.splice(endpoints.indexOf(endpoint), 1);
        await request(system, random, 'DELETE', `/${endpoint.id}`);
        system.journals.endpoints.write({
          kind: 'endpoint',
          at: nowMs(),
          endpoint: endpoint.name,
          is: 'deleted',
        });
        return { fault: 'endpoint deleted', detail: endpoint.name };
      }
      endpoint.isEnabled = !endpoint.isEnabled;
      const is = endpoint.isEnabled ? 'enabled' : 'disabled';
      // The entry is written before an endpoint is enabled and after it is disabled: deliveries in between are allowed.
      const write = (): void =>
        system.journals.endpoints.write({ kind: 'endpoint', at: nowMs(), endpoint: endpoint.name, is });
      if (endpoint.isEnabled) write();
      const { status } = await request(system, random, 'POST', `/${endpoint.id}`, {
        disabled: !endpoint.isEnabled,
      });
      // A failover has lost it.
      if (status === 404) endpoints.splice(endpoints.indexOf(endpoint), 1);
      if (!endpoint.isEnabled) write();
      return { fault: `endpoint ${is}`, detail: endpoint.name };
    },
  };
}

async function add(system: System, random: Random, name: string): Promise<Endpoint> {
  const { body } = await request(system, random, 'POST', '', { url: `${system.hooksUrl}/${name}` });
  system.receiver.order('addSecret', { endpoint: name, secret: String(body.secret) });
  system.journals.endpoints.write({ kind: 'endpoint', at: nowMs(), endpoint: name, is: 'enabled' });
  return { name, id: String(body.id), isEnabled: true };
}

/** Retries until it is answered. 404: a DELETE was executed by an earlier attempt, or a failover has lost the endpoint. */
async function request(
  { webs, key, journals }: System,
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
  const timesOutAt = nowMs() + TIMEOUT_MS;
  for (;;) {
    const reply = await client.send(`/v1/webhook_endpoints${path}`, init, { request: 'endpoint' });
    if (reply.status === 200 || reply.status === 404) return reply;
    if (nowMs() > timesOutAt)
      throw new Error(`${method} /v1/webhook_endpoints${path} answers ${reply.status}`);
    await sleep(reply.retryAfterMs);
  }
}
