import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createApp } from '../../api/app.js';
import { createHttpServer } from '../../api/process/http-server.js';
import { writeReferenceAssets } from '../../local/build/bundle-page.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';
import type { TestApp } from './app.js';

/** A copy of an app that serves the built API reference. */
interface ReferenceApp {
  server: Server;
  url: string;
  /** The folder of its script and style. */
  folder: string;
  close(): Promise<void>;
}

export async function openReferenceApp(app: TestApp): Promise<ReferenceApp> {
  const dist = await mkdtemp(path.join(os.tmpdir(), 'reference-'));
  await writeReferenceAssets(projectRoot(), dist);
  const folder = path.join(dist, 'docs-assets');
  const server = createHttpServer(createApp({ ...app, referenceFolder: folder }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    folder,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(dist, { recursive: true });
    },
  };
}
