import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { MERCHANT_TOOLS } from '../api/mcp/tools.js';
import { COMMANDS } from '../cli/commands.js';
import { parseCommandLine } from '../cli/parse-command-line.js';
import { TOKEN_SYMBOLS } from '../shared/chains/networks/networks.js';
import { EVENT_TYPES } from '../shared/webhooks/event-types.js';
import { anchorsOf } from './support/anchors.js';
import { configuration } from './support/deploy-files.js';

/** Compares README, docs/ and CONTRIBUTING with the project. */
const ROOT = path.join(import.meta.dirname, '..');
const ENDS_LIKE_A_FILE = /\.(ts|mts|mjs|js|sh|sol|lua|css|md|svg|json)$/;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
/** Every file, and every folder with a slash at its end, by its path from the root. */
const tree = new Set(listTree());
const PAGES = [...tree].filter((name) => /^(docs\/|lab\/world\/)?[^/]*\.md$/.test(name));
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

/** The inline code of a text, and the commands of its shell blocks. */
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

/** Named files that do not exist, from the root or from test/ as in the table of promises. `<…>` matches any name. */
function missingFiles(text: string): string[] {
  const words = namedFiles(text);
  // A bare file name is next to a full path.
  const folders = words.filter((word) => word.includes('/')).map((word) => word.replace(/[^/]*$/, ''));
  return words.filter(
    (word) => !(word.includes('/') ? [''] : ['', ...folders]).some((folder) => exists(folder + word)),
  );
}

/** Names that do not stand in the file that a text says: "`name` in `file.ts`", or a constant beside its file in a table. */
function misplacedNames(text: string): string[] {
  const inProse = [...text.matchAll(/`(?<name>[A-Za-z]\w{3,})`\s+in\s+`(?<file>[\w./-]+\.ts)`/g)];
  const inRows = [...text.matchAll(/^\| `(?<file>[\w./-]+\.ts)` \| `(?<name>[A-Z][A-Z\d_]{3,})`/gm)];
  return [...inProse, ...inRows].flatMap(({ groups: { name = '', file = '' } = {} }) =>
    new RegExp(`\\b${name}\\b`).test(read(file)) ? [] : [`${name} in ${file}`],
  );
}

function exists(word: string): boolean {
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

/** The inline code in the first column of a section's table. */
function firstColumn(file: string, heading: string): string[] {
  const rows = [...section(file, heading).matchAll(/^\|([^|]+)\|/gm)];
  return rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

/**
 * A variable per network ends in `_` in the configuration and in `_<NETWORK>` in the docs; one per facilitator ends in its
 * suffix, and in `_<N>` for all but the first.
 */
function readVariables(): string[] {
  const reads = configuration.matchAll(/\b(?:env\.\w+\(\s*'|process\.env\.)([A-Z][A-Z\d_]+)/g);
  const names = [...reads].map(([, name = '']) => name);
  const ofFacilitators = [...configuration.matchAll(/`([A-Z][A-Z\d_]+)\$\{suffix\}`/g)];
  names.push(...ofFacilitators.flatMap(([, name = '']) => [name, `${name}_<N>`]));
  return [...new Set(names.map((name) => name.replace(/_$/, '_<NETWORK>')))];
}

function sourcesOf(...rooms: string[]): string {
  const files = [...tree].filter(
    (name) => name.endsWith('.ts') && rooms.some((room) => name.startsWith(room)),
  );
  return files.map(read).join('\n');
}

describe('the documentation', () => {
  const all = PAGES.map(read).join('\n');

  it('has a README of at most 250 lines', () => {
    assert.ok(read('README.md').trimEnd().split('\n').length <= 250);
  });

  for (const file of PAGES) {
    it(`${file} links to and names only existing files`, () => {
      assert.deepEqual(deadLinks(file), [], 'links');
      assert.deepEqual(missingFiles(read(file)), [], 'files');
    });

    it(`${file} names constants and functions in their files`, () => {
      assert.deepEqual(misplacedNames(read(file)), []);
    });
  }

  it('has what these checks look for', () => {
    const promises = section('docs/promises.md', 'What holds each promise') + read('docs/faults.md');
    assert.ok(namedFiles(promises).length > 60);
    assert.ok(namedFiles(read('README.md')).length > 30);
    assert.ok(tree.has('test/docs.spec.ts') && !exists('node_modules/mocha/'));
  });

  it('lists exactly the variables that the configuration reads', () => {
    assert.deepEqual(firstColumn('docs/operate.md', 'Configuration').sort(), readVariables().sort());
  });

  it('lists exactly the npm commands', () => {
    const named = code(all).flatMap((span) =>
      [...span.matchAll(/\bnpm (?:run (?:-s )?)?(?!run\b)([a-z]+)/g)].map(([, name = '']) => name),
    );
    const { scripts } = JSON.parse(read('package.json'));
    assert.deepEqual(new Set(named), new Set([...Object.keys(scripts), 'ci']));
  });

  it('lists exactly the operator commands', () => {
    const named = code(read('docs/operate.md')).flatMap((span) =>
      [...span.matchAll(/merchants -- ([a-z-]+)/g)].map(([, name = '']) => name),
    );
    assert.deepEqual(new Set(named), new Set([...Object.keys(COMMANDS), 'help']));
  });

  it('answers fifteen questions of support with commands that exist', () => {
    const [, table = ''] = read('docs/operate.md').split(/^### Questions of support$/m);
    const rows = (table.split(/^###? /m)[0] ?? '').match(/^\| (?!question )[^-].*$/gm) ?? [];
    assert.equal(rows.length, 15);
    for (const row of rows) {
      const commands = code(row);
      assert.ok(commands.length > 0, row);
      for (const command of commands) parseCommandLine(command.split(' '), COMMANDS);
    }
  });

  it('alerts on existing metrics and log lines', () => {
    const sources = sourcesOf('api/', 'workers/', 'shared/');
    const metrics = [...all.matchAll(/\bcheckout_(?!session)[a-z_]+/g)].map(([name]) => name);
    assert.ok(metrics.length > 10);
    // Prometheus adds suffixes to the names of histograms.
    const missing = metrics.filter((name) => !sources.includes(`'${name.replace(/_count$/, '')}'`));
    assert.deepEqual(missing, []);
    const lines = firstColumn('docs/operate.md', 'What the log says');
    assert.ok(lines.length > 20);
    assert.deepEqual(
      lines.filter((name) => !sources.includes(`'${name}'`)),
      [],
    );
  });

  it('names the licence and the changes of this version', () => {
    const { license, version } = JSON.parse(read('package.json'));
    assert.equal(read('LICENSE').split('\n', 1)[0], license);
    assert.ok(anchors('CHANGELOG.md').includes(version.replaceAll('.', '')), version);
  });

  it('names every token and every event', () => {
    for (const token of TOKEN_SYMBOLS)
      assert.ok(read('README.md').split('\n##', 1)[0]?.includes(token), token);
    const events = section('docs/integrate.md', 'Webhooks');
    for (const type of EVENT_TYPES) assert.ok(events.includes(`\`${type}\``), type);
  });

  it('names every MCP tool in the table of tools', () => {
    const [, table = ''] = /\n\| tool \| use \|\n([\s\S]*?)\n\n/.exec(read('docs/integrate.md')) ?? [];
    const named = table.split('\n').flatMap((row) => {
      const names = code(row.split('|')[1] ?? '');
      const full = names.find((name) => !name.endsWith('_')) ?? '';
      // `create_` and `delete_webhook_endpoint`, in one row: the first word stands for a whole name.
      return names.map((name) => (name.endsWith('_') ? name + full.slice(full.indexOf('_') + 1) : name));
    });
    assert.deepEqual(
      named.filter((name) => /^[a-z]/.test(name)).sort(),
      MERCHANT_TOOLS.map(({ name }) => name).sort(),
    );
  });
});
