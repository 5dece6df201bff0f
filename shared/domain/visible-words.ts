/** Invisible ones, those that turn the direction of what follows, and those that hide a text in another. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const ASCII = /^[\0-\x7f]*$/;

const EMOJI_STYLE = '\ufe0f';
const JOINER = '\u200d';
const NON_JOINER = '\u200c';
/** Scripts that are not spelt rightly without the two above. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Mongolian'],
].map((script) => `\\p{Script=${script}}`);
const AFTER_JOINING = new RegExp(`[${JOINING.join('')}]\\p{Mark}*$`, 'u');
const BEFORE_JOINING = new RegExp(`^[${JOINING.join('')}]`, 'u');
const AFTER_EMOJI = /\p{Emoji}$/u;
const AFTER_PICTURE = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u;
const BEFORE_PICTURE = /^\p{Extended_Pictographic}/u;
/** As much of a text as is looked at beside a character. */
const NEAR = 12;

/**
 * What a merchant wrote, as people and agents are to read it: nothing in it that they would not see, but what emoji and
 * words of some scripts are made with. JSON stays the same JSON, of such words.
 */
export function visibleWords(text: string): string {
  if (ASCII.test(text)) return text;
  return text.replaceAll(INVISIBLE, (character, offset: number) =>
    belongs(
      character,
      text.slice(Math.max(0, offset - NEAR), offset),
      text.slice(offset + 1, offset + 1 + NEAR),
    )
      ? character
      : '',
  );
}

function belongs(character: string, before: string, after: string): boolean {
  if (character === EMOJI_STYLE) return AFTER_EMOJI.test(before);
  if (character !== JOINER && character !== NON_JOINER) return false;
  if (AFTER_JOINING.test(before) && BEFORE_JOINING.test(after)) return true;
  return character === JOINER && AFTER_PICTURE.test(before) && BEFORE_PICTURE.test(after);
}
