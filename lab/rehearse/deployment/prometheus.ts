import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { type GuardedProcess, spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { findFreePort } from '../../world/processes/services.js';
import { untilAnswered } from './until-answered.js';

export const RULES = path.join(projectRoot(), 'deploy', 'prometheus', 'alerts.yml');

const WINDOW = '15s';

export interface Prometheus {
  /** The number of targets whose last scrape succeeded. */
  targetsUp(): Promise<number>;
  /** The names of the firing alerts. */
  firing(): Promise<string[]>;
  /** Whether the expression of an alert holds now; its times are shortened to seconds. */
  holds(alert: string): Promise<boolean>;
  /** The number of rules that failed to evaluate. */
  brokenRules(): Promise<number>;
  stop(): Promise<void>;
}

/** A real Prometheus with the alerts of `deploy/`. */
export async function startPrometheus(
  folder: string,
  ports: readonly number[],
  token: string,
): Promise<Prometheus> {
  const port = await findFreePort();
  const file = path.join(folder, 'prometheus.yml');
  const data = path.join(folder, 'prometheus');
  await mkdir(data);
  await writeFile(file, configuration(ports, token));
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server: GuardedProcess = spawnGuarded('prometheus', flags);
  const url = `http://127.0.0.1:${port}`;
  const expressions = await readExpressions();
  await untilAnswered(server, `${url}/-/ready`);
  const ask = async <T>(what: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${what}`);
    const { data: result } = (await response.json()) as { data: T };
    return result;
  };
  return {
    async targetsUp() {
      const { activeTargets } = await ask<{ activeTargets: { health: string }[] }>('targets');
      return activeTargets.filter(({ health }) => health === 'up').length;
    },
    async firing() {
      const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
    async holds(alert) {
      const query = expressions.get(alert);
      if (query === undefined) throw new Error(`there is no alert ${alert}`);
      const { result } = await ask<{ result: unknown[] }>(`query?query=${encodeURIComponent(query)}`);
      return result.length > 0;
    },
    async brokenRules() {
      const { groups } = await ask<{ groups: { rules: { health: string }[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules).filter(({ health }) => health === 'err').length;
    },
    stop: () => server.stop(),
  };
}

/** The rules' expressions, over the last seconds in place of minutes and hours. */
async function readExpressions(): Promise<ReadonlyMap<string, string>> {
  const { groups } = parse(await readFile(RULES, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return new Map(
    groups.flatMap(({ rules }) =>
      rules.map(({ alert, expr }) => [alert, expr.replaceAll(/\[\d+[mhd]\]/g, `[${WINDOW}]`)] as const),
    ),
  );
}

function configuration(ports: readonly number[], token: string): string {
  const targets = ports.map((port) => `"127.0.0.1:${port}"`).join(', ');
  return `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ["${RULES}"]
scrape_configs:
  - job_name: checkout
    authorization: { credentials: "${token}" }
    static_configs: [{ targets: [${targets}] }]
`;
}
