import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '..', '..');
export const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const { scripts } = JSON.parse(read('package.json'));
/** The code that reads the environment. */
export const configuration = readdirSync(path.join(ROOT, 'shared/config'))
  .map((file) => read(`shared/config/${file}`))
  .join('\n');
/** The Procfile's processes as commands without npm. */
export const COMMANDS = Object.fromEntries(
  [...read('Procfile').matchAll(/^(\w+): npm run (\w+)$/gm)].map(([, name = '', script = '']) => [
    name,
    String(scripts[script]).replace(/^exec /, ''),
  ]),
);

/** The variables that the configuration does not read. */
export function unknown(names: readonly string[]): string[] {
  return names.filter(
    (name) =>
      !configuration.includes(`'${name.replace(/_(EIP155_\d+|SOLANA\w*)$/, '_')}'`) &&
      !configuration.includes(`\`${name.replace(/_[2-9]$/, '')}\${suffix}\``),
  );
}

/** Asserts that a deployment file starts a process with the Procfile's command. */
export function assertCommand(command: string, process: string): void {
  assert.equal(command, COMMANDS[process]);
}
