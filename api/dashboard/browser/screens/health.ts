import type { Delivery, List } from '../api/objects.js';
import { type Read, useRead } from '../api/use-read.js';
import { type Health, healthOf } from './deliveries.js';

const EVERY_MS = 15_000;
const DELIVERIES = '100';

export function useHealth(endpointId: string): Read<Health> {
  const path = `/v1/webhook_endpoints/${encodeURIComponent(endpointId)}/deliveries`;
  return useRead(
    `health of ${endpointId}`,
    async (api) => healthOf((await api.get<List<Delivery>>(path, { limit: DELIVERIES })).data),
    EVERY_MS,
  );
}
