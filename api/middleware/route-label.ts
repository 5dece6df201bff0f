import type { Request } from 'express';

/** Paths outside of the API document. */
const OTHER_PATHS = [
  '/c/{id}',
  '/c/{id}/status',
  '/c/{id}/page',
  '/c/{id}/pay',
  '/c/{id}/transaction',
  '/c/{id}/balances',
  '/c/{id}/images/{name}',
  '/mcp',
  '/assets/{name}',
  '/openapi.json',
  '/',
  '/llms.txt',
  '/docs',
  '/docs/errors',
  '/docs/assets/{name}',
  '/dashboard',
  '/.well-known/jwks.json',
  '/.well-known/did.json',
  '/did.json',
  '/healthz',
  '/readyz',
  '/metrics',
];
/** A longer path is compared with no template. */
const MAX_PATH_LENGTH = 4096;
const OPERATORS_PAGES = /^\/admin(\/|$)/;

interface Template {
  label: string;
  pattern: RegExp;
}

/**
 * Labels a finished request with its route template, since paths hold ids and the id of a link grants access to it.
 * Express has no route for a request that was refused before or outside of its router; then the path is matched
 * against the templates. Anything else is `unknown`, which bounds the number of labels.
 */
export function routeLabels(
  documentedPaths: readonly string[],
): (req: Request, isRefused: boolean) => string {
  const templates = [...OTHER_PATHS, ...documentedPaths].map(templateOf);
  return ({ baseUrl, route, originalUrl }, isRefused) => {
    if (typeof route?.path === 'string' && !isRefused) return (baseUrl + route.path).replace(/(?<=.)\/$/, '');
    const [path = ''] = originalUrl.split('?', 1);
    if (OPERATORS_PAGES.test(path)) return '/admin/*';
    if (path.length > MAX_PATH_LENGTH) return 'unknown';
    return templates.find(({ pattern }) => pattern.test(path))?.label ?? 'unknown';
  };
}

function templateOf(path: string): Template {
  const pattern = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return { label: path.replaceAll(/\{(\w+)\}/g, ':$1'), pattern: new RegExp(`^${pattern}/?$`) };
}
