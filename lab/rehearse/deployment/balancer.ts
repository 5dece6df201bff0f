import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { findFreePort } from '../../world/http/listen.js';
import { untilAnswered } from '../../world/processes/until-answered.js';
import { ask } from './ask.js';

export interface Balancer {
  /** Resolves when the balancer routes requests to every web process. */
  untilAllServe(): Promise<void>;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 50;

interface BalancerOptions {
  folder: string;
  /** Certificate and key in one file. */
  certificate: string;
  port: number;
  webPorts: readonly number[];
}

/**
 * HAProxy as docs/deploy.md configures it: it terminates TLS, routes by `/readyz`, and sends a request to the other process
 * when the request never reached a stopping process. It retries no other request, since only such a request surely had no
 * effect.
 */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const file = path.join(options.folder, 'haproxy.cfg');
  const statsPort = await findFreePort();
  await writeFile(file, configuration(options, statsPort));
  const balancer = spawnGuarded('haproxy', ['-db', '-f', file]);
  await untilAnswered(balancer, `https://localhost:${options.port}/readyz`, ask);
  return {
    async untilAllServe() {
      for (;;) {
        const table = await (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text();
        const serving = table.split('\n').filter((line) => /^webs,web-.*,UP,/.test(line));
        if (serving.length === options.webPorts.length) return;
        await sleep(LOOK_EVERY_MS);
      }
    },
    stop: () => balancer.stop(),
  };
}

function configuration({ certificate, port, webPorts }: BalancerOptions, statsPort: number): string {
  const servers = webPorts.map((one, n) => `  server web-${n + 1} 127.0.0.1:${one}`);
  return `
global
  maxconn 2000

defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout queue 10s
  timeout check 5s
  option forwardfor
  option redispatch 1
  retries 3
  retry-on conn-failure

frontend checkout
  bind 127.0.0.1:${port} ssl crt ${certificate}
  default_backend webs

frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /

backend webs
  option httpchk GET /readyz
  default-server check inter 500ms fall 3 rise 1
${servers.join('\n')}
`;
}
