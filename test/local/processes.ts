import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Resolves when no other process has `text` in its command line. */
export async function untilNoProcessMentions(text: string): Promise<void> {
  while ((await processesMentioning(text)).length > 0) await sleep(10);
}

async function processesMentioning(text: string): Promise<number[]> {
  const commands = process.platform === 'linux' ? await commandsFromProc() : await commandsFromPs();
  return [...commands]
    .filter(([pid, command]) => pid !== process.pid && command.includes(text))
    .map(([pid]) => pid);
}

async function commandsFromProc(): Promise<Map<number, string>> {
  const commands = new Map<number, string>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    commands.set(Number(name), await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''));
  }
  return commands;
}

async function commandsFromPs(): Promise<Map<number, string>> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,command=']);
  return new Map(stdout.split('\n').map((line) => [Number.parseInt(line, 10), line]));
}
