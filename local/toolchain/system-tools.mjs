import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runToEnd } from './run-to-end.mjs';

/** System packages that the test suite needs. */
export const TOOLS = [
  {
    command: 'redis-server',
    debianPackage: 'redis-server',
    why: 'the queue and the rate limits run on a real Redis',
  },
  {
    command: 'chromium-headless-shell',
    instead: 'chromium',
    debianPackage: 'chromium-headless-shell',
    why: 'the payment page is tried in a real browser',
  },
  {
    command: 'pgbouncer',
    debianPackage: 'pgbouncer',
    why: 'the connections of the suite go through it, and what a pooler changes is tried with it',
  },
  {
    command: 'haproxy',
    debianPackage: 'haproxy',
    why: 'a deployment is rehearsed behind a real balancer',
  },
  {
    command: 'nginx',
    debianPackage: 'nginx-light',
    why: "what a proxy's limits do to an answer is tried with a real one",
  },
  {
    command: 'varnishd',
    debianPackage: 'varnish',
    why: "what a cache's limits do to an answer is tried with a real one",
  },
  {
    command: 'curl',
    debianPackage: 'curl',
    why: 'an example is written with it',
  },
  {
    command: 'promtool',
    debianPackage: 'prometheus',
    why: "the alert rules are tried by Prometheus' own tool",
  },
  {
    command: 'prometheus-alertmanager',
    debianPackage: 'prometheus-alertmanager',
    why: 'alerts are heard from a real Alertmanager',
  },
  // systemd-analyze checks the units of deploy/, on Linux only.
  ...(process.platform === 'linux'
    ? [
        {
          command: 'systemd-analyze',
          debianPackage: 'systemd',
          why: "the units are read by systemd's own tool",
        },
      ]
    : []),
];

/** The load generator of the benchmarks. */
export const LOAD_TOOL = {
  command: 'wrk',
  debianPackage: 'wrk',
  why: 'the load on the service and on what it is compared with comes from it',
};

const POLICY_FILE = '/usr/sbin/policy-rc.d';
const POLICY = '#!/bin/sh\n# Left by "npm test" of stablecoin-checkout; may be removed.\nexit 101\n';

/** Installs missing tools when this is root on Debian or Ubuntu; otherwise names them and exits 1. */
export async function ensureSystemTools(tools = TOOLS) {
  const missing = tools.filter((tool) => !isThere(tool));
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) refuse(missing);
  const packages = missing.map(({ debianPackage }) => debianPackage);
  process.stderr.write(`Installing ${packages.join(', ')} from the system's packages …\n`);
  await withoutServices(async () => {
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stopWith: 'TERM' };
    const flags = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
    await runToEnd('apt-get', [...flags, 'update'], options);
    await runToEnd('apt-get', [...flags, 'install', '-y', '--no-install-recommends', ...packages], options);
  });
  const stillMissing = tools.filter((tool) => !isThere(tool));
  if (stillMissing.length > 0) refuse(stillMissing);
}

function refuse(missing) {
  process.stderr.write('These programs are needed, and not on PATH:\n');
  for (const { command, debianPackage, why } of missing) {
    process.stderr.write(`  ${command}: ${why} (Debian, Ubuntu: apt-get install ${debianPackage})\n`);
  }
  process.exit(1);
}

/** Debian starts a service when its package is installed, unless this file forbids it. */
async function withoutServices(install) {
  const isOurs = existsSync(POLICY_FILE) && readFileSync(POLICY_FILE, 'utf8') === POLICY;
  if (existsSync(POLICY_FILE) && !isOurs) return install();
  const allowAgain = () => rmSync(POLICY_FILE, { force: true });
  process.once('exit', allowAgain);
  writeFileSync(POLICY_FILE, POLICY, { mode: 0o755 });
  try {
    return await install();
  } finally {
    allowAgain();
    process.off('exit', allowAgain);
  }
}

/** `instead` is an equivalent command that may be installed already. */
function isThere({ command, instead = command }) {
  return isOnPath(command) || isOnPath(instead);
}

function isOnPath(command) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, command), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
