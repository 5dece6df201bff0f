import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { type GuardedProcess, spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { findFreePort } from '../../world/http/listen.js';
import { untilAnswered } from '../../world/processes/until-answered.js';

const RULES = path.join(projectRoot(), 'deploy', 'prometheus', 'alerts.yml');

/** The time of an expression of the hastened rules: the same alerts a second time, over seconds in place of minutes and hours. */
const WINDOW = '15s';
/** The label of the hastened alerts, which alone go to Alertmanager. */
const HASTENED = 'hastened';

export interface Prometheus {
  /** The number of targets whose last scrape succeeded. */
  targetsUp(): Promise<number>;
  /** The names of the firing alerts, hastened ones left out. */
  firing(): Promise<string[]>;
  /** The number of rules that failed to evaluate. */
  brokenRules(): Promise<number>;
  stop(): Promise<void>;
}

interface Watched {
  ports: readonly number[];
  token: string;
  alertmanagerPort: number;
}

/** A real Prometheus with the alerts of `deploy/`. */
export async function startPrometheus(folder: string, watched: Watched): Promise<Prometheus> {
  const port = await findFreePort();
  const file = path.join(folder, 'prometheus.yml');
  const hastened = path.join(folder, 'hastened-alerts.yml');
  const data = path.join(folder, 'prometheus');
  await mkdir(data);
  await writeFile(hastened, await hastenedRules());
  await writeFile(file, configuration(watched, [RULES, hastened]));
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server: GuardedProcess = spawnGuarded('prometheus', flags);
  const url = `http://127.0.0.1:${port}`;
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
      const { alerts } = await ask<{ alerts: { state: string; labels: Record<string, string> }[] }>('alerts');
      return alerts
        .filter(({ state, labels }) => state === 'firing' && labels[HASTENED] === undefined)
        .map(({ labels }) => labels.alertname ?? '');
    },
    async brokenRules() {
      const { groups } = await ask<{ groups: { rules: { health: string }[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules).filter(({ health }) => health === 'err').length;
    },
    stop: () => server.stop(),
  };
}

interface Rule {
  expr: string;
  for?: string;
  labels: Record<string, string>;
}

async function hastenedRules(): Promise<string> {
  const { groups } = parse(await readFile(RULES, 'utf8')) as { groups: { name: string; rules: Rule[] }[] };
  return stringify({
    groups: groups.map(({ name, rules }) => ({
      name: `${name}, hastened`,
      interval: '1s',
      rules: rules.map(({ for: _, expr, labels, ...rule }) => ({
        ...rule,
        expr: expr.replaceAll(/\[\d+[mhd]\]/g, `[${WINDOW}]`),
        labels: { ...labels, [HASTENED]: 'yes' },
      })),
    })),
  });
}

function configuration({ ports, token, alertmanagerPort }: Watched, rules: readonly string[]): string {
  const targets = ports.map((port) => `"127.0.0.1:${port}"`).join(', ');
  return `
global: { scrape_interval: 1s, evaluation_interval: 5s }
rule_files: ${JSON.stringify(rules)}
alerting:
  alert_relabel_configs: [{ source_labels: [${HASTENED}], regex: "yes", action: keep }]
  alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:${alertmanagerPort}"] }] }]
scrape_configs:
  - job_name: checkout
    authorization: { credentials: "${token}" }
    static_configs: [{ targets: [${targets}] }]
`;
}
