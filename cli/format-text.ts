/** Formats an answer as lines of `name: value`: nested names are joined by dots, elements of lists follow a blank line. */
export function formatText(answer: object): string {
  return `${linesOf(answer, '').join('\n')}\n`;
}

function linesOf(value: object, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (Array.isArray(member)) return member.flatMap((element) => ['', ...linesOf(element, '')]);
    if (typeof member === 'object' && member !== null) return linesOf(member, path);
    return [`${path}: ${member ?? '–'}`];
  });
}
