import { type Api, ApiError } from './client.js';
import type { Key, List } from './objects.js';

/** The list of keys does not say which of them is asking. Cancelling a refund that does not exist changes nothing. */
const HARMLESS_WRITE = '/v1/refunds/re_none/cancel';

/** Whether the key may change anything. It is asked for by a write only where some keys of the account may not. */
export async function readAccess(api: Api): Promise<'full' | 'read'> {
  try {
    const { data, has_more: hasMore } = await api.get<List<Key>>('/v1/keys', { limit: '100' });
    if (!hasMore && data.every(({ access }) => access !== 'read')) return 'full';
    if (!hasMore && data.every(({ access }) => access === 'read')) return 'read';
    await api.change(HARMLESS_WRITE);
    return 'full';
  } catch (error) {
    return error instanceof ApiError && error.code === 'key_read_only' ? 'read' : 'full';
  }
}
