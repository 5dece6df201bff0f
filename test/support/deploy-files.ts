import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What the files of deploy/ say of the project is held against the project. */
export const ROOT = path.join(import.meta.dirname, '..', '..');
export const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const { scripts } = JSON.parse(read('package.json'));
const config = read('shared/config/config.ts');
/** As the Procfile's processes are started, without npm between. */
export const COMMANDS = Object.fromEntries(
  [...read('Procfile').matchAll(/^(\w+): npm run (\w+)$/gm)].map(([, name = '', script = '']) => [
    name,
    String(scripts[script]).replace(/^exec /, ''),
  ]),
);

/** Names of variables that the configuration does not read. */
export function unknown(names: readonly string[]): string[] {
  return names.filter((name) => !config.includes(`'${name.replace(/_(EIP155_\d+|SOLANA\w*)$/, '_')}'`));
}

/** What the others start beside the service. */
export function assertCommand(command: string, process: string): void {
  assert.equal(command, COMMANDS[process]);
}
