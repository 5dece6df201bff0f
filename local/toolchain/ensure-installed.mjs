import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';
import { runToEnd } from './run-to-end.mjs';

const OLDEST_NODE = [20, 19];

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  process.stderr.write(
    `This needs Node.js ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}

/** Installs the dependencies when they do not match package-lock.json; exits when that fails. */
export async function ensureInstalled(root) {
  checkNode();
  if (isInstalled(root)) return;
  await withLock(path.join(root, '.data', 'install.lock'), async () => {
    if (!isInstalled(root)) await install(root);
  });
}

async function install(root) {
  const modules = path.join(root, 'node_modules');
  process.stderr.write(
    existsSync(modules)
      ? 'Installing dependencies (package-lock.json changed, or the last time was cut short) …\n'
      : 'Installing dependencies (first start only) …\n',
  );
  // The stamp is removed first, so that an interrupted installation never looks complete.
  rmSync(stampFile(root), { force: true });
  rmSync(path.join(modules, '.package-lock.json'), { force: true });
  const npm = npmCommand();
  const args = [...npm.args, 'ci', '--include=dev', '--loglevel=error'];
  const code = await runToEnd(npm.command, args, { cwd: root });
  if (code !== 0) {
    process.stderr.write(`"npm ci" failed with code ${code}; nothing was started.\n`);
    process.exit(1);
  }
  writeStamp(root);
}

function isInstalled(root) {
  if (read(stampFile(root)) === lockHash(root)) return true;
  if (!matchesLock(root)) return false;
  writeStamp(root);
  return true;
}

/** Without this project's stamp, npm may have been run by hand. Its last step writes a list of the installed packages. */
function matchesLock(root) {
  const installed = readPackages(path.join(root, 'node_modules', '.package-lock.json'));
  const wanted = readPackages(path.join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return false;
  return Object.entries(wanted).every(([place, { version, integrity, optional, extraneous }]) => {
    if (place === '') return true;
    const found = installed[place];
    // npm locks more than it installs: packages for other systems, and packages that it calls extraneous.
    if (found === undefined) return optional === true || extraneous === true;
    const complete = existsSync(path.join(root, place, 'package.json'));
    return complete && found.version === version && found.integrity === integrity;
  });
}

/** Undefined also when another start's npm is still writing the file. */
function readPackages(file) {
  try {
    return JSON.parse(read(file)).packages;
  } catch {
    return undefined;
  }
}

function writeStamp(root) {
  mkdirSync(path.join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile(root), lockHash(root));
}

function stampFile(root) {
  return path.join(root, 'node_modules', '.install-hash');
}

function lockHash(root) {
  return createHash('sha256')
    .update(read(path.join(root, 'package-lock.json')) ?? '')
    .digest('hex');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The npm that runs this command, else the one on PATH. */
function npmCommand() {
  const running = process.env.npm_execpath ?? '';
  return path.basename(running) === 'npm-cli.js'
    ? { command: process.execPath, args: [running] }
    : { command: 'npm', args: [] };
}
