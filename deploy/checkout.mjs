#!/usr/bin/env node
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

/**
 * The operator's commands with the settings of the systemd units, for `ln -s /opt/checkout/deploy/checkout.mjs
 * /usr/local/bin/checkout`: as root, `checkout list`. The caller's own environment has no effect on the settings.
 */
const UNIT = 'checkout-web@.service';
const UNITS = (process.env.CHECKOUT_UNITS ?? '/etc/systemd/system:/usr/lib/systemd/system').split(':');
/** The caller's variables that no setting uses. */
const KEPT = ['PATH', 'HOME', 'LANG', 'TERM', 'TZ'];

/** The unit with its drop-ins, the later lines first to win. */
function readUnit() {
  const folder = UNITS.find((one) => existsSync(path.join(one, UNIT)));
  if (folder === undefined) throw new Error(`There is no ${UNIT} in ${UNITS.join(' or ')}.`);
  const dropIns = path.join(folder, `${UNIT}.d`);
  const names = existsSync(dropIns) ? readdirSync(dropIns).filter((name) => name.endsWith('.conf')) : [];
  const files = [path.join(folder, UNIT), ...names.sort().map((name) => path.join(dropIns, name))];
  return files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
}

/** The values of a directive; an empty one resets the list, as in systemd. */
function valuesOf(lines, name) {
  const values = [];
  for (const line of lines) {
    if (!line.startsWith(`${name}=`)) continue;
    const value = line.slice(name.length + 1).trim();
    if (value === '') values.length = 0;
    else values.push(value);
  }
  return values;
}

function readSettings(lines) {
  const given = valuesOf(lines, 'Environment').flatMap((value) => assignmentsOf(wordsOf(value)));
  const files = valuesOf(lines, 'EnvironmentFile').flatMap((value) => {
    const isOptional = value.startsWith('-');
    const file = isOptional ? value.slice(1) : value;
    return isOptional && !existsSync(file) ? [] : assignmentsOf(linesOf(readFileSync(file, 'utf8')));
  });
  return Object.fromEntries([...given, ...files]);
}

function assignmentsOf(words) {
  return words.flatMap((word) => {
    const at = word.indexOf('=');
    return at > 0 ? [[word.slice(0, at).trim(), word.slice(at + 1)]] : [];
  });
}

/** The lines of an EnvironmentFile, without comments and quotes. */
function linesOf(text) {
  return text
    .replaceAll(/\\\r?\n/g, '')
    .split(/\r?\n/)
    .filter((line) => !/^\s*([#;]|$)/.test(line))
    .map((line) => {
      const [, name = '', value = ''] = /^\s*([^=]*)=\s*(.*?)\s*$/.exec(line) ?? [];
      return `${name}=${unquoted(value)}`;
    });
}

/** The words of an `Environment=` line. */
function wordsOf(text) {
  return (text.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? []).map(unquoted);
}

function unquoted(text) {
  return text.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_all, double, single, escaped) => {
    if (double !== undefined) return double.replaceAll(/\\(["\\`$])/g, '$1');
    return single ?? escaped;
  });
}

/** The unit's user, for root; anyone else stays who they are. */
function userOf(lines) {
  const name = valuesOf(lines, 'User').at(-1);
  if (name === undefined || process.getuid() !== 0) return {};
  const idOf = (flag) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function run() {
  const lines = readUnit();
  const folder = valuesOf(lines, 'WorkingDirectory').at(-1);
  if (folder === undefined) throw new Error(`${UNIT} names no WorkingDirectory.`);
  const kept = KEPT.filter((name) => process.env[name] !== undefined);
  const env = {
    ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
    ...readSettings(lines),
  };
  const cli = path.join(folder, 'local', 'commands', 'merchants.mjs');
  const args = [cli, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'inherit', ...userOf(lines) });
  // The terminal signals the child too; it decides when to end.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('error', fail);
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

function fail(error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

try {
  run();
} catch (error) {
  fail(error);
}
