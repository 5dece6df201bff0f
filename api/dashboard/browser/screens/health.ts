import { type Read, useRead } from '../api/use-read.js';
import { type Health, healthOf, listDeliveries } from './deliveries.js';

const EVERY_MS = 15_000;
const DELIVERIES = '100';

export function useHealth(endpointId: string): Read<Health> {
  return useRead(
    `health of ${endpointId}`,
    async (api) => healthOf((await listDeliveries(api, endpointId, { limit: DELIVERIES })).data),
    EVERY_MS,
  );
}
