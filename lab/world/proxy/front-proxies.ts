import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type GuardedProcess, spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { findFreePort } from '../http/listen.js';
import { untilAnswered } from '../processes/until-answered.js';

/** The proxies that operators put before web processes. */
export const FRONT_PROXIES = ['nginx', 'haproxy', 'varnish'] as const;
export type FrontProxyKind = (typeof FRONT_PROXIES)[number];

export interface FrontProxy {
  url: string;
  stop(): Promise<void>;
}

/** Settings that let the longest payment header pass: lines of the configuration, or `varnishd`'s parameters. */
export const LONG_HEADERS: Record<FrontProxyKind, string> = {
  nginx: 'large_client_header_buffers 4 32k;',
  haproxy: 'tune.bufsize 36864',
  varnish: '-p http_req_hdr_len=32k -p http_req_size=48k',
};

/** Without `setting` the proxy has the limits that it is installed with. */
export async function startFrontProxy(
  kind: FrontProxyKind,
  webPort: number,
  setting = '',
): Promise<FrontProxy> {
  const folder = await mkdtemp(path.join(os.tmpdir(), `stablecoin-checkout-${kind}-`));
  const port = await findFreePort();
  const proxy = await START[kind]({ folder, port, webPort, setting });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswered(proxy, `${url}/healthz`);
  return {
    url,
    async stop() {
      await proxy.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Start {
  folder: string;
  port: number;
  webPort: number;
  setting: string;
}

const START: Record<FrontProxyKind, (start: Start) => Promise<GuardedProcess>> = {
  async nginx({ folder, port, webPort, setting }) {
    const file = path.join(folder, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `  ${name}_temp_path ${folder}/${name};`,
    );
    await writeFile(
      file,
      `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${setting}
${temporary.join('\n')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${webPort}; }
  }
}
`,
    );
    return spawnGuarded('nginx', ['-e', 'stderr', '-p', folder, '-c', file]);
  },

  async haproxy({ folder, port, webPort, setting }) {
    const file = path.join(folder, 'haproxy.cfg');
    await writeFile(
      file,
      `
global
  ${setting}
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend checkout
  bind 127.0.0.1:${port}
  default_backend webs
backend webs
  server web 127.0.0.1:${webPort}
`,
    );
    return spawnGuarded('haproxy', ['-db', '-f', file]);
  },

  async varnish({ folder, port, webPort, setting }) {
    const work = path.join(folder, 'work');
    await mkdir(work);
    const parameters = setting === '' ? [] : setting.split(' ');
    const places = ['-a', `127.0.0.1:${port}`, '-b', `127.0.0.1:${webPort}`, '-n', work];
    return spawnGuarded('varnishd', ['-F', '-j', 'none', '-s', 'malloc,16m', ...parameters, ...places]);
  },
};
