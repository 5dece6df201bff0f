import { type FileHandle, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';
import { setAssetHeaders } from '../checkout-page/assets-route.js';
import { chooseEncoding } from '../checkout-page/compressed.js';

/**
 * The API reference's script and style sheet, a library of 1.6 MB: nothing of it is loaded or kept here. The build has
 * compressed each file, and they go out as they lie on the disk.
 */
export const REFERENCE_FOLDER = path.join(BUILD_FOLDER, 'docs-assets');

const NAME = /^reference\.[\w-]{10}\.(?:js|css)$/;
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' };
const ABSENT = 'ENOENT';
const CLIENT_LEFT = 'ERR_STREAM_PREMATURE_CLOSE';

/** Their names, which hold their hashes; none when this was not built. */
export async function listReferenceAssets(folder: string): Promise<string[]> {
  const names = await unless(ABSENT, readdir(folder));
  return (names ?? []).filter((name) => NAME.test(name));
}

/** False when there is no such file. */
export async function sendReferenceAsset(res: Response, folder: string, name: string): Promise<boolean> {
  if (!NAME.test(name)) return false;
  const encoding = chooseEncoding(res);
  const file = await unless(ABSENT, open(path.join(folder, name + ENDINGS[encoding])));
  if (file === undefined) return false;
  setAssetHeaders(res, name);
  if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
  await send(res, file);
  return true;
}

async function send(res: Response, file: FileHandle): Promise<void> {
  try {
    const { size } = await file.stat();
    res.setHeader('Content-Length', size);
    if (res.req.method === 'HEAD') res.end();
    else await unless(CLIENT_LEFT, pipeline(file.createReadStream({ autoClose: false }), res));
  } finally {
    await file.close();
  }
}

/** What the work gives; undefined when it fails for this reason. */
async function unless<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  }
}
