import { nowMs } from '../../../shared/process/clock.js';
import { pick, type Random } from '../../world/chance/seeded-random.js';
import { retryRequest } from '../purchases/retry-request.js';
import { ServiceClient } from '../purchases/service-client.js';
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
const WITHIN_MS = 300_000;

/** Returns a function that updates the steady endpoint, in a transaction, without changing it. */
export async function addSteadyEndpoint(system: System, random: Random): Promise<() => Promise<void>> {
  const { id } = await add(system, random, STEADY_ENDPOINT);
  return async () => {
    await request(system, random, `/${id}`, { body: { description: `the steady one, ${random()}` } });
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
        await request(system, random, `/${endpoint.id}`, { method: 'DELETE' });
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
      const changed = await request(system, random, `/${endpoint.id}`, {
        body: { disabled: !endpoint.isEnabled },
      });
      // A failover has lost it.
      if (changed === undefined) endpoints.splice(endpoints.indexOf(endpoint), 1);
      if (!endpoint.isEnabled) write();
      return { fault: `endpoint ${is}`, detail: endpoint.name };
    },
  };
}

async function add(system: System, random: Random, name: string): Promise<Endpoint> {
  const made = await request(system, random, '', { body: { url: `${system.hooksUrl}/${name}` } });
  if (made === undefined) throw new Error(`the endpoint ${name} was refused`);
  system.receiver.order('addSecret', { endpoint: name, secret: String(made.secret) });
  system.journals.endpoints.write({ kind: 'endpoint', at: nowMs(), endpoint: name, is: 'enabled' });
  return { name, id: String(made.id), isEnabled: true };
}

/** Undefined for a 404: a DELETE was executed by an earlier attempt, or a failover has lost the endpoint. */
async function request(
  { webs, key, journals }: System,
  random: Random,
  path: string,
  wanted: { method?: 'DELETE'; body?: object },
): Promise<Record<string, unknown> | undefined> {
  const client = new ServiceClient({ webs, random, write: (answer) => journals.endpoints.write(answer) });
  const merchant = { client, key, request: 'endpoint' } as const;
  return await retryRequest(merchant, `/v1/webhook_endpoints${path}`, { ...wanted, withinMs: WITHIN_MS });
}
