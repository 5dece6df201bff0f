import assert from 'node:assert/strict';
import { main } from '../../cli/merchants.js';

export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

export async function runCommand(...argv: string[]): Promise<Ran> {
  const ran: Ran = { status: -1, stdout: '', stderr: '' };
  ran.status = await main(argv, {
    stdout: { write: (text) => (ran.stdout += text) },
    stderr: { write: (text) => (ran.stderr += text) },
  });
  return ran;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted on field by field
export async function runJson(...argv: string[]): Promise<any> {
  const { status, stdout, stderr } = await runCommand(...argv, '--json');
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

export async function assertRefused(words: RegExp, ...argv: string[]): Promise<void> {
  const { status, stdout, stderr } = await runCommand(...argv);
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, words);
  assert.equal(stderr.trimEnd().split('\n').length, 1, 'one clear line');
}
