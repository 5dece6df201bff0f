import { readFile } from 'node:fs/promises';
import type { Knex } from '../../../shared/db/knex.js';
import { type BenchProcess, cpuMsOf } from './server-process.js';

/** Postgres with all its processes, ended ones included. */
export async function postmaster(db: Knex): Promise<Pick<BenchProcess, 'pid' | 'cpuMs'>> {
  const { rows } = await db.raw('SELECT pg_backend_pid() AS pid');
  const status = await readFile(`/proc/${rows[0].pid}/status`, 'utf8');
  const parent = Number(/PPid:\s+(\d+)/.exec(status)?.[1]);
  return {
    pid: parent,
    async cpuMs() {
      const children = (await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')).trim().split(' ');
      // A child that ends meanwhile is counted with its parent, which is read last.
      const each = await Promise.all(children.map((pid) => cpuMsOf(Number(pid)).catch(() => 0)));
      return each.reduce((sum, ms) => sum + ms, await cpuMsOf(parent));
    },
  };
}
