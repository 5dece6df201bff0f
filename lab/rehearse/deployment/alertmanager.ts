import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { readBody } from '../../world/http/json-http.js';
import { findFreePort, serveLocally } from '../../world/http/listen.js';
import { untilAnswered } from '../../world/processes/until-answered.js';

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
  const receiver = await serveLocally(async (request, response) => {
    const body = (await readBody(request)) as Notification | undefined;
    if (body === undefined) return void response.destroy();
    const { status, groupLabels } = body;
    const { isFiring, beginnings } = told.get(groupLabels.alertname) ?? { isFiring: false, beginnings: 0 };
    const begins = status === 'firing' && !isFiring;
    told.set(groupLabels.alertname, {
      isFiring: status === 'firing',
      beginnings: beginnings + Number(begins),
    });
    response.end();
  });

  const port = await findFreePort();
  const file = path.join(folder, 'alertmanager.yml');
  const data = path.join(folder, 'alertmanager');
  await mkdir(data);
  await writeFile(file, configuration(receiver.port));
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
      await receiver.close();
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
