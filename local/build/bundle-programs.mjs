import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Loading their thousand and more files one by one would dominate the start of each program. `npm start` is not among them:
 * it goes on while a build replaces the chunks that it has not loaded yet.
 */
const ENTRIES = [
  'api/server.ts',
  'workers/main.ts',
  'workers/webhook-delivery/sender-thread.ts',
  'shared/migrate.ts',
  'cli/merchants.ts',
  'local/listen/main.ts',
];
/** Reads files of its own at run time, so it cannot be bundled. */
const NOT_BUNDLED = ['@bull-board/*'];
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
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    write: false,
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    outbase: root,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    mainFields: ['module', 'main'],
    external: [...NOT_BUNDLED, ...NOT_INSTALLED],
    banner: { js: REQUIRE },
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  for (const { path: file, text } of outputFiles) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, file.endsWith('.js') ? inAscii(text) : text);
  }
}

/** Escapes non-ASCII characters. V8 keeps a file with one character beyond Latin-1 at two bytes a character. */
function inAscii(text) {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
