export function bundlePage(root: string): Promise<Map<string, Buffer>>;
export function writeReferenceAssets(root: string, dist: string): Promise<void>;
