import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LocalApi } from './local-api.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

/**
 * The demo merchant's webhook endpoint. The API shows its secret once, at its creation, so it is kept beside the data.
 */
interface KeptEndpoint {
  id: string;
  secret: string;
  port: number;
}

const FIRST_PORT = 4242;

export async function openDemoReceiver(
  folder: string,
  print: (line: string) => void,
): Promise<WebhookReceiver> {
  const kept = await readKept(folder);
  return await startWebhookReceiver({ preferredPort: kept?.port ?? FIRST_PORT, print });
}

/** Points the merchant's endpoint at this receiver; false when the service does not deliver to private addresses. */
export async function subscribe(api: LocalApi, folder: string, receiver: WebhookReceiver): Promise<boolean> {
  const kept = await readKept(folder);
  const { url } = receiver;
  const known = kept && (await api('GET', `/v1/webhook_endpoints/${kept.id}`));
  if (kept !== undefined && known?.status === 200) {
    const isRight = known.body.url === url && known.body.status === 'enabled';
    if (!isRight) {
      const updated = await api('POST', `/v1/webhook_endpoints/${kept.id}`, { url, disabled: false });
      if (updated.status !== 200) return false;
      await keep(folder, { ...kept, port: portOf(url) });
    }
    receiver.setSecret(kept.secret);
    return true;
  }
  const description = 'Printed into the output of npm start';
  const { status, body } = await api('POST', '/v1/webhook_endpoints', { url, description });
  const { id, secret } = body;
  if (status !== 200 || typeof id !== 'string' || typeof secret !== 'string') return false;
  await keep(folder, { id, secret, port: portOf(url) });
  receiver.setSecret(secret);
  return true;
}

function fileIn(folder: string): string {
  return path.join(folder, 'demo-webhook.json');
}

async function keep(folder: string, endpoint: KeptEndpoint): Promise<void> {
  await writeFile(fileIn(folder), `${JSON.stringify(endpoint)}\n`, { mode: 0o600 });
}

async function readKept(folder: string): Promise<KeptEndpoint | undefined> {
  try {
    const { id, secret, port }: Partial<Record<string, unknown>> = JSON.parse(
      await readFile(fileIn(folder), 'utf8'),
    );
    const isWhole = typeof id === 'string' && typeof secret === 'string' && typeof port === 'number';
    return isWhole ? { id, secret, port } : undefined;
  } catch {
    // The file is missing on the first start, or damaged: a new endpoint is created.
    return undefined;
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
