import type { Request } from 'express';

/** What is answered outside of the API document; what lies below the last of them has one name together. */
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
  '/docs/assets/{name}',
  '/.well-known/jwks.json',
  '/.well-known/did.json',
  '/did.json',
  '/healthz',
  '/readyz',
  '/metrics',
];
const OPERATORS_PAGES = /^\/admin(\/|$)/;

interface Template {
  label: string;
  pattern: RegExp;
}

/**
 * Names the route of a request that is over: the template, not the path, since paths hold ids, and a link's id is all it
 * takes to see it. Of what was refused express has forgotten under which path its route was, or never got to it: then
 * the path is looked up. There are as many names as routes, and `unknown`.
 */
export function routeLabels(
  documentedPaths: readonly string[],
): (req: Request, isRefused: boolean) => string {
  const templates = [...OTHER_PATHS, ...documentedPaths].map(templateOf);
  return ({ baseUrl, route, originalUrl }, isRefused) => {
    if (typeof route?.path === 'string' && !isRefused) return (baseUrl + route.path).replace(/(?<=.)\/$/, '');
    const [path = ''] = originalUrl.split('?', 1);
    if (OPERATORS_PAGES.test(path)) return '/admin/*';
    return templates.find(({ pattern }) => pattern.test(path))?.label ?? 'unknown';
  };
}

function templateOf(path: string): Template {
  const pattern = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return { label: path.replaceAll(/\{(\w+)\}/g, ':$1'), pattern: new RegExp(`^${pattern}/?$`) };
}
