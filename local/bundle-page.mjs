import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.join('api', 'checkout-page', 'browser');

/** The payment page's script and style sheet, as browsers get them: by name, which holds the hash of what is in it. */
export async function bundlePage(root) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { checkout: path.join(FOLDER, 'main.ts'), page: path.join(FOLDER, 'page.css') },
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
    outputFiles.map(({ path: file, contents }) => [hashedName(file, contents), Buffer.from(contents)]),
  );
}

/** Into the folder `assets` of a build, for a project that has a page. */
export async function writePageAssets(root, dist) {
  if (!existsSync(path.join(root, FOLDER))) return;
  const folder = path.join(dist, 'assets');
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of await bundlePage(root)) writeFileSync(path.join(folder, name), bytes);
}

function hashedName(file, contents) {
  const { name, ext } = path.parse(file);
  const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 10);
  return `${name}.${hash}${ext}`;
}
