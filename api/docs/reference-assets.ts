import { type FileHandle, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';
import { setAssetHeaders } from '../checkout-page/assets-route.js';
import { chooseEncoding } from '../checkout-page/compressed.js';

/**
 * Script and style sheet of the API reference, a library of 1.6 MB that is not kept in memory. The build compresses
 * the files; they are streamed from disk.
 */
export const REFERENCE_FOLDER = path.join(BUILD_FOLDER, 'docs-assets');

const NAME = /^reference\.[\w-]{10}\.(?:js|css)$/;
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' };
const ABSENT = 'ENOENT';
const CLIENT_LEFT = 'ERR_STREAM_PREMATURE_CLOSE';

/** The names of the assets, with content hashes; empty when they were not built. */
export async function listReferenceAssets(folder: string): Promise<string[]> {
  const names = await unlessCode(ABSENT, readdir(folder));
  return (names ?? []).filter((name) => NAME.test(name));
}

/** Returns false when the file does not exist. */
export async function sendReferenceAsset(res: Response, folder: string, name: string): Promise<boolean> {
  if (!NAME.test(name)) return false;
  const encoding = chooseEncoding(res);
  const file = await unlessCode(ABSENT, open(path.join(folder, name + ENDINGS[encoding])));
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
    else await unlessCode(CLIENT_LEFT, pipeline(file.createReadStream({ autoClose: false }), res));
  } finally {
    await file.close();
  }
}

/** Resolves to undefined when the work fails with this error code. */
async function unlessCode<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  }
}
