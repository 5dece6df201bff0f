import assert from 'node:assert/strict';
import {
  brandStyles,
  brandStylesOf,
  brandStylesUrl,
  contrast,
  parseColor,
} from '../../../api/checkout-page/brand.js';

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
const PAGES = { light: ['#f6f7f9', '#ffffff'], dark: ['#1b1d21', '#111316'] };

function color(text: string): readonly [number, number, number] {
  const parsed = parseColor(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}

describe('the colour of a merchant', () => {
  for (const brand of COLORS) {
    it(`${brand} has enough contrast`, () => {
      const [light = '', dark = ''] = (brandStyles(brand) ?? '').split('@media (prefers-color-scheme:dark)');
      for (const [theme, pages] of [
        [light, PAGES.light],
        [dark, PAGES.dark],
      ] as const) {
        const value = (name: string) => color(new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(theme)?.[1] ?? '');
        assert.ok(contrast(value('brand'), value('on-brand')) >= 4.5, 'text on the button');
        for (const page of pages) {
          assert.ok(contrast(value('brand-edge'), color(page)) >= 3, `the button’s edge on ${page}`);
          assert.ok(contrast(value('accent'), color(page)) >= 4.5, `links on ${page}`);
        }
      }
    });
  }

  it('is unchanged where it has enough contrast', () => {
    assert.match(
      brandStyles('#1a2b3c') ?? '',
      /^:root\{--brand:#1a2b3c;--brand-edge:#1a2b3c;--on-brand:#ffffff;--accent:#1a2b3c\}/,
    );
  });

  it('has a URL that depends on its content', () => {
    const url = brandStylesUrl('#FFE600') ?? '';
    assert.equal(brandStylesOf(url.replace('/assets/', '')), brandStyles('#ffe600'));
    for (const name of ['brand-ffe600.css', 'brand-ffe600.AAAAAAAA.css', 'brand-red.AAAAAAAA.css', '']) {
      assert.equal(brandStylesOf(name), undefined);
    }
    for (const no of ['red', '#12', '#12345678', '']) assert.equal(brandStylesUrl(no), undefined);
  });
});
