import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const FOLDER = path.join('api', 'checkout-page', 'browser');
const DASHBOARD = path.join('api', 'dashboard', 'browser');
const REFERENCE = path.join('api', 'docs', 'browser', 'reference.js');
/** The best of brotli's qualities takes some 0.5 s of processor for each 100 KB. */
const BEST_QUALITY = 11;
/**
 * The quality for the 1.6 MB of the reference, which it makes 9 % longer in an eighteenth of the time: every build waits for
 * it.
 */
const REFERENCE_QUALITY = 9;

/** Script and style sheet of each page, by file name, each also compressed. A name contains the hash of its content. */
export async function bundlePage(root, brotliQuality = BEST_QUALITY) {
  const entryPoints = {
    checkout: path.join(FOLDER, 'main.ts'),
    page: path.join(FOLDER, 'page.css'),
    dashboard: path.join(DASHBOARD, 'main.tsx'),
    'dashboard-style': path.join(DASHBOARD, 'dashboard.css'),
  };
  return await bundle(root, entryPoints, brotliQuality);
}

/** Writes them into the folder `assets` of a build, for a project that has a page. */
export async function writePageAssets(root, dist) {
  if (!existsSync(path.join(root, FOLDER))) return;
  const folder = path.join(dist, 'assets');
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of await bundlePage(root)) writeFileSync(path.join(folder, name), bytes);
}

/** Writes the API reference's files into the folder `docs-assets` of a build: they are too long to keep in memory. */
export async function writeReferenceAssets(root, dist) {
  if (!existsSync(path.join(root, REFERENCE))) return;
  const folder = path.join(dist, 'docs-assets');
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of await bundle(root, { reference: REFERENCE }, REFERENCE_QUALITY))
    writeFileSync(path.join(folder, name), bytes);
}

async function bundle(root, entryPoints, brotliQuality) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: 'assets',
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: ['es2022', 'chrome100', 'firefox100', 'safari15.4'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return new Map(
    outputFiles.flatMap(({ path: file, contents }) =>
      encodingsOf(hashedName(file, contents), contents, brotliQuality),
    ),
  );
}

/** The build compresses the files, because a process could answer nothing else meanwhile. */
function encodingsOf(name, contents, brotliQuality) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
  return [
    [name, Buffer.from(contents)],
    [`${name}.gz`, gzipSync(contents, { level: 9 })],
    [`${name}.br`, brotliCompressSync(contents, { params })],
  ];
}

function hashedName(file, contents) {
  const { name, ext } = path.parse(file);
  const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 10);
  return `${name}.${hash}${ext}`;
}
