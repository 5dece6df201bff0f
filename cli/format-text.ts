/**
 * Formats an answer as lines of `name: value`: nested names are joined by dots, objects of a list follow a blank line each,
 * and a list of other values is one line.
 */
export function formatText(answer: object): string {
  return `${linesOf(answer, '').join('\n')}\n`;
}

function linesOf(value: object, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (Array.isArray(member) && member.some(isObject))
      return member.flatMap((element) => ['', ...linesOf(element, '')]);
    if (Array.isArray(member)) return [`${path}: ${member.join(', ') || 'none'}`];
    if (isObject(member)) return linesOf(member, path);
    return [`${path}: ${member ?? '–'}`];
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
