import assert from 'node:assert/strict';
import { brandStyles, contrast, parseColor } from '../../../api/checkout-page/brand.js';

const COLORS = [
  '#000000',
  '#ffffff',
  '#ffe600',
  '#808080',
  '#1a2b3c',
  '#ff0000',
  '#00ff00',
  '#767676',
  '#f6f7f9',
];
/** `surface` and `muted` of page.css. */
const LIGHT = ['#ffffff', '#565d6b'] as const;
const DARK = ['#1b1d21', '#a6adb9'] as const;

function color(text: string): readonly [number, number, number] {
  const parsed = parseColor(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}

describe('the colour of a merchant', () => {
  for (const brand of COLORS) {
    it(`${brand} has enough contrast`, () => {
      const [light = '', dark = ''] = (brandStyles(brand) ?? '').split('@media (prefers-color-scheme:dark)');
      for (const [theme, [surface, muted]] of [
        [light, LIGHT],
        [dark, DARK],
      ] as const) {
        const value = (name: string) => color(new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(theme)?.[1] ?? '');
        assert.ok(contrast(value('brand'), value('on-brand')) >= 4.5, 'text on the button');
        // The page's own surface is tinted with the colour.
        for (const ground of [value('page'), color(surface)]) {
          assert.ok(contrast(value('brand-edge'), ground) >= 3, `the button’s edge on ${ground}`);
          assert.ok(contrast(value('accent'), ground) >= 4.5, `links on ${ground}`);
          assert.ok(contrast(color(muted), ground) >= 4.5, `quiet text on ${ground}`);
        }
      }
    });
  }

  it('is unchanged where it has enough contrast', () => {
    assert.match(
      brandStyles('#1a2b3c') ?? '',
      /^:root\{--page:#e9ebee;--brand:#1a2b3c;--brand-edge:#1a2b3c;--on-brand:#ffffff;--accent:#1a2b3c\}/,
    );
  });

  it('is written as six digits', () => {
    assert.notEqual(brandStyles('#FFE600'), undefined);
    for (const no of ['red', '#12', '#12345678', '']) assert.equal(brandStyles(no), undefined);
  });
});
