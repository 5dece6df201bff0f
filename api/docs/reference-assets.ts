import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Response } from 'express';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';
import { hasCode } from '../../shared/process/error-code.js';
import { setAssetHeaders } from '../checkout-page/assets-route.js';
import { chooseEncoding } from '../checkout-page/compressed.js';

/**
 * Script and style sheet of the API reference, a library of 1.6 MB. The build compresses the files. Each is read with the first
 * request for it and held once, so that clients who do not read their answers take no memory of their own.
 */
export const REFERENCE_FOLDER = path.join(BUILD_FOLDER, 'docs-assets');

const NAME = /^reference\.[\w-]{10}\.(?:js|css)$/;
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' };

/** Contents by path; the names hold content hashes. */
const files = new Map<string, Buffer>();

/** The names of the assets; empty when they were not built. */
export async function listReferenceAssets(folder: string): Promise<string[]> {
  const names = await unlessAbsent(readdir(folder));
  return (names ?? []).filter((name) => NAME.test(name));
}

/** Returns false when the file does not exist. */
export async function sendReferenceAsset(res: Response, folder: string, name: string): Promise<boolean> {
  if (!NAME.test(name)) return false;
  const encoding = chooseEncoding(res);
  const bytes = await read(path.join(folder, name + ENDINGS[encoding]));
  if (bytes === undefined) return false;
  setAssetHeaders(res, name);
  if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
  res.setHeader('Content-Length', bytes.length);
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
  return true;
}

async function read(file: string): Promise<Buffer | undefined> {
  if (!files.has(file)) {
    const bytes = await unlessAbsent(readFile(file));
    // Requests of the same moment may have read it several times.
    if (bytes !== undefined && !files.has(file)) files.set(file, bytes);
  }
  return files.get(file);
}

/** Resolves to undefined when there is no such file. */
async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
