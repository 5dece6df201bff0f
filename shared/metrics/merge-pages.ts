/** Merges metrics pages: each metric once, with the series of all pages. */
export function mergePages(pages: readonly string[]): string {
  const metrics = new Map<string, string[]>();
  for (const text of pages.flatMap((page) => page.split(/^(?=# HELP )/m))) {
    const [help = '', type = '', ...series] = text.trim().split('\n');
    const [, , name = ''] = help.split(' ');
    const lines = metrics.get(name) ?? [help, type];
    lines.push(...series);
    metrics.set(name, lines);
  }
  return `${[...metrics.values()].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
