import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { COMMANDS } from '../cli/commands.js';
import { TOKEN_SYMBOLS } from '../shared/chains/networks.js';
import { EVENT_TYPES } from '../shared/webhooks/event-types.js';
import { anchorsOf } from './support/anchors.js';

/** What README, docs/ and CONTRIBUTING say of the project is held against the project. */
const ROOT = path.join(import.meta.dirname, '..');
const ENDS_LIKE_A_FILE = /\.(ts|mts|mjs|js|sh|sol|lua|css|md|svg|json)$/;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
/** Every file, and every folder with a slash at its end, by its path from the root. */
const tree = new Set(listTree());
const PAPERS = [...tree].filter((name) => /^(docs\/)?[^/]*\.md$/.test(name));
const folders = [...tree].filter((name) => name.endsWith('/'));

function listTree(): string[] {
  const ignored = read('.gitignore').split('\n').concat('.git/');
  const entries = readdirSync(ROOT, { withFileTypes: true }).filter(
    ({ name }) => !ignored.includes(`${name}/`),
  );
  return entries.flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name];
    const below = readdirSync(path.join(ROOT, entry.name), { recursive: true, withFileTypes: true });
    const names = below.map((one) => {
      const name = path.relative(ROOT, path.join(one.parentPath, one.name));
      return one.isDirectory() ? `${name}/` : name;
    });
    return [`${entry.name}/`, ...names];
  });
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
}

/** What is set in code in a line, and the commands of shell blocks. */
function code(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) =>
    block.split('\n').map((line) => line.replace(/ # .*/, '')),
  );
  return [...blocks, ...[...withoutBlocks(text).matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)];
}

function namedFiles(text: string): string[] {
  const words = code(text).flatMap((span) => span.split(/[\s(),;:"'|=…]+/));
  return words.filter((word) => {
    if (!/^[\w.][\w./<>-]*$/.test(word)) return false;
    if (!word.includes('/')) return /\.(ts|mjs|sh|md)$/.test(word);
    const [room = ''] = word.split('/', 1);
    const isOurs = folders.includes(`${room}/`) || folders.includes(`test/${room}/`);
    return isOurs || /^[^.].*\/$/.test(word) || ENDS_LIKE_A_FILE.test(word);
  });
}

/** What is not there: from the root, or below test/, as the tables of promises say. `<…>` is any name. */
function missingFiles(text: string): string[] {
  const words = namedFiles(text);
  // A bare name stands beside something that is named in full.
  const places = words.filter((word) => word.includes('/')).map((word) => word.replace(/[^/]*$/, ''));
  return words.filter(
    (word) => !(word.includes('/') ? [''] : ['', ...places]).some((place) => isThere(place + word)),
  );
}

function isThere(word: string): boolean {
  const pattern = word.replaceAll('.', '\\.').replaceAll(/<[^>]*>/g, '[^/]+');
  const known = new RegExp(`^(test/)?${pattern}/?$`);
  return [...tree].some((name) => known.test(name));
}

function anchors(file: string): string[] {
  return anchorsOf(read(file));
}

function deadLinks(file: string): string[] {
  const links = [...withoutBlocks(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [target = '', anchor] = link.split('#');
    const name = target === '' ? file : path.join(path.dirname(file), target);
    return !tree.has(name) || (anchor !== undefined && !anchors(name).includes(anchor));
  });
}

function section(file: string, heading: string): string {
  const [, text = ''] = read(file).split(new RegExp(`^#+ ${heading}$`, 'm'));
  return text.split(/^#+ /m, 1)[0] ?? '';
}

/** What the first column of a section's table sets in code. */
function firstColumn(file: string, heading: string): string[] {
  const rows = [...section(file, heading).matchAll(/^\|([^|]+)\|/gm)];
  return rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

/** One per network ends in `_` there, and in `_<NETWORK>` here. */
function readVariables(): string[] {
  const reads = read('shared/config/config.ts').matchAll(
    /\b(?:env\.\w+\(\s*'|process\.env\.)([A-Z][A-Z\d_]+)/g,
  );
  const names = [...reads].map(([, name = '']) => name);
  return [...new Set(names.map((name) => name.replace(/_$/, '_<NETWORK>')))];
}

function sourcesOf(...rooms: string[]): string {
  const files = [...tree].filter(
    (name) => name.endsWith('.ts') && rooms.some((room) => name.startsWith(room)),
  );
  return files.map(read).join('\n');
}

describe('the papers', () => {
  const all = PAPERS.map(read).join('\n');

  it('begin with a README of at most 250 lines', () => {
    assert.ok(read('README.md').trimEnd().split('\n').length <= 250);
  });

  for (const file of PAPERS) {
    it(`${file} links to and names only what is there`, () => {
      assert.deepEqual(deadLinks(file), [], 'links');
      assert.deepEqual(missingFiles(read(file)), [], 'files');
    });
  }

  it('were read at all', () => {
    const promises = section('docs/operate.md', 'What holds each promise') + read('docs/faults.md');
    assert.ok(namedFiles(promises).length > 60);
    assert.ok(namedFiles(read('README.md')).length > 30);
    assert.ok(tree.has('test/docs.spec.ts') && !isThere('node_modules/mocha/'));
  });

  it('have every variable that the configuration reads, and no other', () => {
    assert.deepEqual(firstColumn('docs/operate.md', 'Configuration').sort(), readVariables().sort());
  });

  it('have every npm command, and no other', () => {
    const named = code(all).flatMap((span) =>
      [...span.matchAll(/\bnpm (?:run (?:-s )?)?(?!run\b)([a-z]+)/g)].map(([, name = '']) => name),
    );
    const { scripts } = JSON.parse(read('package.json'));
    assert.deepEqual(new Set(named), new Set([...Object.keys(scripts), 'ci']));
  });

  it('have every command of the operator, and no other', () => {
    const named = code(read('docs/operate.md')).flatMap((span) =>
      [...span.matchAll(/merchants -- ([a-z-]+)/g)].map(([, name = '']) => name),
    );
    assert.deepEqual(new Set(named), new Set([...Object.keys(COMMANDS), 'help']));
  });

  it('alarm by metrics and lines of the log that there are', () => {
    const sources = sourcesOf('api/', 'workers/', 'shared/');
    const metrics = [...all.matchAll(/\bcheckout_(?!session)[a-z_]+/g)].map(([name]) => name);
    assert.ok(metrics.length > 10);
    // Prometheus counts what is observed under a name of its own.
    const missing = metrics.filter((name) => !sources.includes(`'${name.replace(/_count$/, '')}'`));
    assert.deepEqual(missing, []);
    const lines = firstColumn('docs/operate.md', 'What the log says');
    assert.ok(lines.length > 20);
    assert.deepEqual(
      lines.filter((name) => !sources.includes(`'${name}'`)),
      [],
    );
  });

  it('say which licence it is under, and what is new in this version', () => {
    const { license, version } = JSON.parse(read('package.json'));
    assert.equal(read('LICENSE').split('\n', 1)[0], license);
    assert.ok(anchors('CHANGELOG.md').includes(version.replaceAll('.', '')), version);
  });

  it('name every token, and every event', () => {
    for (const token of TOKEN_SYMBOLS)
      assert.ok(read('README.md').split('\n##', 1)[0]?.includes(token), token);
    const events = section('docs/integrate.md', 'Webhooks');
    for (const type of EVENT_TYPES) assert.ok(events.includes(`\`${type}\``), type);
  });
});
