import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What runs in production and stays: to load their thousand and more files one by one takes longer than all else. */
const ENTRIES = ['api/server.ts', 'workers/main.ts'];
/** It reads files of its own at run time. */
const LOADED_AS_IT_IS = ['@bull-board/*'];
/** Drivers that knex and node-postgres know of and nobody here has. */
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
/** Packages in CommonJS ask for what is Node's own by it. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`;

/**
 * Web and worker with the packages that they use, over what the compiler has left in their places: as few files as can be,
 * with names as they were. What both have, and what is loaded when it is first needed, are files of the folder `chunks`.
 */
export async function bundleProcesses(root, dist) {
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
    external: [...LOADED_AS_IT_IS, ...NOT_INSTALLED],
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

/** What is not are comments. With a single letter beyond Latin-1 a whole file is kept in memory at two bytes a letter. */
function inAscii(text) {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
