import type { parseArgs } from 'node:util';
import type { Command } from './command.js';

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/** Options of every command. */
export const COMMON_FLAGS = ['json', 'local'];
/** Counted in letters that are added, left out or changed: two swapped letters count as two. */
const MOST_MISTAKES = 2;
const LETTERS_PER_MISTAKE = 1.5;

/** Returns a sentence about the first option that the command cannot take; undefined when it can take all of them. */
export function explainOptions(
  words: readonly string[],
  tokens: readonly Token[],
  command: Command,
): string | undefined {
  const flags = [...(command.flags ?? []), ...COMMON_FLAGS];
  const given = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, value, inlineValue } = token;
    // Node reads -name as four options of one letter.
    const isLong = token.rawName.startsWith('--');
    if (isLong && flags.includes(name)) {
      if (value !== undefined) return `--${name} takes no value: write --${name} alone.`;
    } else if (isLong && command.options?.includes(name)) {
      if (value === undefined) return `--${name} needs a value after it.`;
      if (inlineValue === false && /^-./.test(value))
        return `--${name} needs a value after it; write one that starts with a dash as --${name}=${value}.`;
      if (given.has(name)) return `--${name} is given twice: write it once.`;
      given.add(name);
    } else {
      return unknownOption(isLong ? token.rawName : (words[token.index] ?? token.rawName), command, flags);
    }
  }
  return undefined;
}

function unknownOption(
  written: string,
  { options = [], flags = [], subject }: Command,
  all: string[],
): string {
  const typed = written.replace(/^-+/, '').toLowerCase();
  const near = [...options, ...all].find((known) => isNear(typed, known));
  const said = `There is no option ${written} here`;
  if (near !== undefined) return `${said}: did you mean --${near}?`;
  if (subject !== undefined && !written.startsWith('--'))
    return `${said}: write a ${subject} that starts with a dash last, after --.`;
  const own = [...options, ...flags].map((name) => `--${name}`);
  return own.length === 0 ? `${said}: remove it.` : `${said}: its options are ${own.join(', ')}.`;
}

function isNear(typed: string, known: string): boolean {
  if (typed.length > 2 && known.startsWith(typed)) return true;
  const mistakes = distance(typed, known);
  return mistakes <= MOST_MISTAKES && mistakes < known.length / LETTERS_PER_MISTAKE;
}

/** Levenshtein's distance between two texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
