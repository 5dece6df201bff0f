import type { PageView } from './page-view.js';
import { fill, type Words } from './words/words.js';

/** Building blocks of the panels: they take text and return markup. */

/** Escapes text for HTML. All strings of merchants pass through it. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A text of the page with escaped values filled in. Values are isolated in <bdi>, which keeps their own direction.
 */
export function phrase(words: Words, word: keyof Words, values: Record<string, string> = {}): string {
  const escaped = Object.entries(values).map(([name, value]) => [name, `<bdi>${escapeHtml(value)}</bdi>`]);
  return fill(escapeHtml(words[word]), Object.fromEntries(escaped));
}

/** Fills a phrase without markup, for titles and attributes. */
export function plainPhrase(words: Words, word: keyof Words, values: Record<string, string> = {}): string {
  return escapeHtml(fill(words[word], values));
}

/** Marks up an address, a hash or an id, which is left to right in every language. */
export function code(text: string): string {
  return `<code dir="ltr">${escapeHtml(text)}</code>`;
}

/** Shortens an address to its ends. The print style sheet shows it in full, from the title. */
export function shortened(text: string): string {
  const short = text.length <= 16 ? text : `${text.slice(0, 6)}…${text.slice(-6)}`;
  return `<code dir="ltr" title="${escapeHtml(text)}">${escapeHtml(short)}</code>`;
}

export function time({ formats }: PageView, seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString();
  return `<time datetime="${iso}">${escapeHtml(formats.time(seconds))}</time>`;
}

/** A link to another site, which gets no referrer. */
export function link(url: string, markup: string, className = ''): string {
  const style = className === '' ? '' : ` class="${className}"`;
  return `<a${style} href="${escapeHtml(url)}" rel="noopener noreferrer">${markup}</a>`;
}

export function facts(rows: readonly (readonly [term: string, value: string])[], className = ''): string {
  const items = rows.map(([term, value]) => `<div><dt>${term}</dt><dd>${value}</dd></div>`);
  return `<dl class="facts ${className}">\n${items.join('\n')}\n</dl>`;
}

const DRAWINGS = {
  done: '<path d="m7 12.5 3.2 3.2L17 9"/>',
  over: '<path d="M12 7v5l3 2"/>',
  failed: '<path d="M12 7v6M12 16.4v.1"/>',
  working: '',
};

/** Hidden from screen readers: the text beside it says the same. */
export function icon(name: keyof typeof DRAWINGS): string {
  if (name === 'working') return '<span class="icon working" aria-hidden="true"></span>';
  return `<svg class="icon ${name}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/>${DRAWINGS[name]}</svg>`;
}
