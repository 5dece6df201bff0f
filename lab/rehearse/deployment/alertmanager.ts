import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { findFreePort } from '../../world/http/listen.js';
import { untilAnswered } from './until-answered.js';

/** A real Alertmanager, and the receiver of its notifications in place of a pager. */
export interface Alertmanager {
  port: number;
  isFiring(alert: string): boolean;
  /** How often the receiver was told that this alert began. */
  beginnings(alert: string): number;
  stop(): Promise<void>;
}

/** The notification of all alerts of one name. */
interface Notification {
  status: 'firing' | 'resolved';
  groupLabels: { alertname: string };
}

export async function startAlertmanager(folder: string): Promise<Alertmanager> {
  const told = new Map<string, { isFiring: boolean; beginnings: number }>();
  const receiver = createServer((request, response) => {
    json(request)
      .then((body) => {
        const { status, groupLabels } = body as Notification;
        const { isFiring, beginnings } = told.get(groupLabels.alertname) ?? {
          isFiring: false,
          beginnings: 0,
        };
        const begins = status === 'firing' && !isFiring;
        told.set(groupLabels.alertname, {
          isFiring: status === 'firing',
          beginnings: beginnings + Number(begins),
        });
        response.end();
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port: receiverPort } = receiver.address() as AddressInfo;

  const port = await findFreePort();
  const file = path.join(folder, 'alertmanager.yml');
  const data = path.join(folder, 'alertmanager');
  await mkdir(data);
  await writeFile(file, configuration(receiverPort));
  const server = spawnGuarded('prometheus-alertmanager', [
    `--config.file=${file}`,
    `--storage.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
  await untilAnswered(server, `http://127.0.0.1:${port}/-/ready`);
  return {
    port,
    isFiring: (alert) => told.get(alert)?.isFiring ?? false,
    beginnings: (alert) => told.get(alert)?.beginnings ?? 0,
    async stop() {
      await server.stop();
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
    },
  };
}

function configuration(receiverPort: number): string {
  return `
route:
  receiver: rehearsal
  group_by: [alertname]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: rehearsal
    webhook_configs: [{ url: "http://127.0.0.1:${receiverPort}/", send_resolved: true }]
`;
}
