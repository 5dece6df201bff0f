import { execFile } from 'node:child_process';
import os from 'node:os';
import { promisify } from 'node:util';

/** The numbers of the machine's processors, in two halves. */
interface Processors {
  service: readonly number[];
  others: readonly number[];
}

export function halveProcessors(): Processors {
  const all = Array.from({ length: os.availableParallelism() }, (_, number) => number);
  const half = Math.floor(all.length / 2);
  if (half === 0) throw new Error('this benchmark needs two processors');
  return { service: all.slice(0, half), others: all.slice(half) };
}

/** All threads of the process, and the processes that it starts from now on, run on these processors only. */
export async function pinTo(processors: readonly number[], pid: number): Promise<void> {
  await promisify(execFile)('taskset', ['-a', '-c', '-p', processors.join(','), String(pid)]);
}
