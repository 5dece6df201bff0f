import assert from 'node:assert/strict';
import type { Client } from './api-client.js';

/** A list as the API returns it. */
export interface Page {
  object: 'list';
  url: string;
  has_more: boolean;
  data: { id: string; [field: string]: unknown }[];
}

export async function readPage(api: Client, path: string): Promise<Page> {
  const res = await api.get(path);
  assert.equal(res.status, 200, `${path}: ${res.text}`);
  return res.body;
}

export const idsOf = (page: Page): string[] => page.data.map(({ id }) => id);
