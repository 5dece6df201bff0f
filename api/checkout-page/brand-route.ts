import { createHash } from 'node:crypto';
import { brandStyles } from './brand.js';

/**
 * A merchant's colour as a style sheet of its own: the page allows no inline style. It depends on nothing but the
 * colour, and its address holds its hash, so it may be kept for ever like every other asset.
 */
export function brandStylesUrl(color: string): string | undefined {
  const styles = brandStyles(color);
  return styles === undefined
    ? undefined
    : `/assets/brand-${color.slice(1).toLowerCase()}.${hash(styles)}.css`;
}

/** By the file's name below /assets. */
export function brandStylesOf(name: string): string | undefined {
  const [, color = '', asked] = /^brand-([0-9a-f]{6})\.([0-9A-Za-z_-]{8})\.css$/.exec(name) ?? [];
  const styles = brandStyles(color);
  return styles !== undefined && hash(styles) === asked ? styles : undefined;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}
