import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { assertCommand, ROOT, read, unknown } from '../support/deploy-files.js';

interface Blueprint {
  services: {
    type: string;
    name: string;
    dockerfilePath?: string;
    dockerCommand?: string;
    preDeployCommand?: string;
    healthCheckPath?: string;
    maxmemoryPolicy?: string;
    envVars?: Setting[];
  }[];
  databases: { name: string }[];
  envVarGroups: { name: string; envVars: Setting[] }[];
}

interface Setting {
  key?: string;
  value?: string;
  fromGroup?: string;
  fromDatabase?: { name: string };
  fromService?: { name: string; type: string; envVarKey?: string };
}

describe('deploy/render.yaml', () => {
  const { services, databases, envVarGroups }: Blueprint = parseYaml(read('deploy/render.yaml'), {
    strict: true,
  });
  const find = (type: string) => services.find((service) => service.type === type);

  it('starts the processes of the image', () => {
    assertCommand(find('web')?.preDeployCommand ?? '', 'release');
    assertCommand(find('worker')?.dockerCommand ?? '', 'worker');
    for (const { dockerfilePath } of services)
      if (dockerfilePath !== undefined) assert.ok(existsSync(path.join(ROOT, dockerfilePath)));
    assert.equal(find('web')?.healthCheckPath, '/healthz');
    assert.equal(find('keyvalue')?.maxmemoryPolicy, 'noeviction');
  });

  it('sets existing variables from resources that it creates', () => {
    const groups = envVarGroups.map(({ name }) => name);
    const settings = services.flatMap(({ envVars = [] }) => envVars);
    for (const { fromGroup, fromDatabase, fromService } of settings) {
      if (fromGroup !== undefined) assert.ok(groups.includes(fromGroup), fromGroup);
      if (fromDatabase !== undefined) assert.equal(fromDatabase.name, databases[0]?.name);
      if (fromService === undefined) continue;
      const service = find(fromService.type);
      assert.equal(service?.name, fromService.name);
      const keys = service?.envVars?.map(({ key }) => key);
      assert.ok(fromService.envVarKey === undefined || keys?.includes(fromService.envVarKey));
    }
    const all = [...settings, ...envVarGroups.flatMap(({ envVars }) => envVars)];
    const keys = all.flatMap(({ key }) => key ?? []);
    assert.ok(keys.length > 10);
    assert.deepEqual(unknown(keys), []);
  });
});

interface FlyFile {
  build: { dockerfile: string };
  deploy: { release_command: string };
  env: Record<string, string>;
  processes: Record<string, string>;
  http_service: { internal_port: number; processes: string[]; checks: { path: string }[] };
}

describe('deploy/fly.toml', () => {
  const text = read('deploy/fly.toml');
  const fly = parseToml(text) as unknown as FlyFile;

  it('starts the processes of the image and probes the readiness of web', () => {
    assert.ok(existsSync(path.join(ROOT, 'deploy', fly.build.dockerfile)));
    assertCommand(fly.deploy.release_command, 'release');
    assert.deepEqual(Object.keys(fly.processes), ['web', 'worker']);
    for (const [name, command] of Object.entries(fly.processes)) assertCommand(command, name);
    assert.deepEqual(fly.http_service.processes, ['web']);
    assert.equal(String(fly.http_service.internal_port), fly.env.PORT);
    const [check, ...others] = fly.http_service.checks;
    assert.deepEqual([check?.path, others], ['/readyz', []]);
  });

  it('sets existing variables and names the secret ones', () => {
    const [, named = ''] = /^# Secrets[^:]*:([\s\S]*?)^\w/m.exec(text) ?? [];
    const secrets: string[] = named.match(/[A-Z_]{5,}/g) ?? [];
    assert.ok(secrets.includes('DATABASE_URL') && secrets.includes('ENCRYPTION_KEY'));
    assert.deepEqual(unknown([...secrets, ...Object.keys(fly.env)]), []);
  });
});
