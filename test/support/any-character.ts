import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/**
 * Draws any character, like fast-check's own `binary`, without its table of a million characters, which takes seconds to
 * build.
 */
export const anyCharacter = fc.nat(LAST - SURROGATES.count).map(
  (number) => String.fromCodePoint(number < SURROGATES.from ? number : number + SURROGATES.count),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('not a character');
    if (code < SURROGATES.from) return code;
    if (code < SURROGATES.from + SURROGATES.count) throw new Error('half a character');
    return code - SURROGATES.count;
  },
);
