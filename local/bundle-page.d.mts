export function bundlePage(root: string): Promise<Map<string, Buffer>>;
