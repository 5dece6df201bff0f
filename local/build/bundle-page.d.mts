export function bundlePage(root: string, brotliQuality?: number): Promise<Map<string, Buffer>>;
export function writeReferenceAssets(root: string, dist: string): Promise<void>;
