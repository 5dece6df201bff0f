/** Invisible ones, those that turn the direction of what follows, and those that hide a text in another. */
const INVISIBLE = '[\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]';
/** Scripts that are not spelt rightly without (zero-width) joiners and non-joiners. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Mongolian'],
].map((script) => `\\p{Script=${script}}`);
/** Each is told by what stands beside it; what is looked for comes first, since most texts have none of it. */
const BELONGS = [
  `[\\u200c\\u200d](?<=[${JOINING.join('')}]\\p{Mark}{0,3}.)(?=[${JOINING.join('')}])`,
  '\\u200d(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?.)(?=\\p{Extended_Pictographic})',
  '\\ufe0f(?<=\\p{Emoji}.)',
].join('|');

const BELONGS_OR_INVISIBLE = new RegExp(`(${BELONGS})|${INVISIBLE}`, 'gu');
const ONE_INVISIBLE = new RegExp(INVISIBLE, 'u');
const ASCII = /^[\0-\x7f]*$/;

/**
 * What a merchant wrote, as people and agents are to read it: nothing in it that they would not see, but what emoji and
 * words of some scripts are made with.
 */
export function visibleText(text: string): string {
  return ASCII.test(text) ? text : text.replaceAll(BELONGS_OR_INVISIBLE, '$1');
}

/** Whether they may have to be made visible. */
export function mayHideText(text: string): boolean {
  return !ASCII.test(text) && ONE_INVISIBLE.test(text);
}
