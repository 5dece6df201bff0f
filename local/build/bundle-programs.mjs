import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Programs whose start would mostly be the loading of a thousand and more files one by one. */
const ENTRIES = [
  'api/server.ts',
  'workers/main.ts',
  'workers/webhook-delivery/sender-thread.ts',
  'shared/migrate.ts',
  'cli/merchants.ts',
  'local/listen/main.ts',
];
/** Packages that read files of their own at run time. */
const NOT_BUNDLED = ['@bull-board/*', 'litesvm'];
/** Drivers that knex and node-postgres support and this project does not use. */
const NOT_INSTALLED = [
  'better-sqlite3',
  'mariadb',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];
/** CommonJS packages in the bundle call `require` for Node's own modules. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`;

/**
 * Bundles the programs with their packages over the compiler's output, with readable names. Shared modules, and modules
 * that are loaded on first use, go to the folder `chunks`.
 */
export async function bundlePrograms(root, dist) {
  const entryPoints = ENTRIES.filter((file) => existsSync(path.join(root, file)));
  if (entryPoints.length === 0) return;
  const files = await bundle(root, {
    entryPoints,
    outdir: dist,
    outbase: root,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    sourcemap: true,
    sourcesContent: false,
  });
  for (const { path: file, text } of files) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** The JavaScript of local/ stays where it is: some of it reads a file beside itself. */
const LEFT_IN_PLACE = {
  name: 'left in place',
  setup({ onResolve }) {
    onResolve({ filter: /\/local\/.*\.mjs$/ }, ({ path: name, resolveDir }) => ({
      path: pathToFileURL(path.resolve(resolveDir, name)).href,
      external: true,
    }));
  },
};

/** Bundles each program into one text. */
export async function bundleEach(root, entries) {
  const plugins = [LEFT_IN_PLACE];
  const bundled = await Promise.all(entries.map((entry) => bundle(root, { entryPoints: [entry], plugins })));
  const { stop } = await import('esbuild');
  // A program that runs on would keep the process of esbuild.
  await stop();
  return bundled.map(([{ text }]) => text);
}

async function bundle(root, options) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    write: false,
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    mainFields: ['module', 'main'],
    external: [...NOT_BUNDLED, ...NOT_INSTALLED],
    banner: { js: REQUIRE },
    logLevel: 'warning',
    ...options,
  });
  return outputFiles.map(({ path: file, text }) => ({
    path: file,
    text: file.endsWith('.map') ? text : inAscii(text),
  }));
}

/** Escapes non-ASCII characters. V8 keeps a file with one character beyond Latin-1 at two bytes a character. */
function inAscii(text) {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
