/** Invisible characters, bidirectional controls, and characters that hide one text in another. */
const INVISIBLE = '[\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]';
/** Scripts whose spelling needs zero-width joiners and non-joiners. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Mongolian'],
].map((script) => `\\p{Script=${script}}`);
/**
 * Invisible characters that their neighbours make legitimate: joiners in these scripts, joiners and variation selectors in
 * emoji. Each pattern starts with the rare character itself, for speed.
 */
const LEGITIMATE = [
  `[\\u200c\\u200d](?<=[${JOINING.join('')}]\\p{Mark}{0,3}.)(?=[${JOINING.join('')}])`,
  '\\u200d(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?.)(?=\\p{Extended_Pictographic})',
  '\\ufe0f(?<=\\p{Emoji}.)',
].join('|');

const LEGITIMATE_OR_INVISIBLE = new RegExp(`(${LEGITIMATE})|${INVISIBLE}`, 'gu');
const ONE_INVISIBLE = new RegExp(INVISIBLE, 'u');
const ASCII = /^[\0-\x7f]*$/;

/**
 * Removes invisible characters from a merchant's text, except in emoji and in scripts that need them, so that agents read
 * the same text as people.
 */
export function visibleText(text: string): string {
  return ASCII.test(text) ? text : text.replaceAll(LEGITIMATE_OR_INVISIBLE, '$1');
}

/** Whether the text may contain invisible characters. */
export function mayHideText(text: string): boolean {
  return !ASCII.test(text) && ONE_INVISIBLE.test(text);
}
