import assert from 'node:assert/strict';
import { chooseLanguage, LANGUAGES } from '../../../api/checkout-page/language.js';
import { EN, EN_REFUND } from '../../../api/checkout-page/words/en.js';
import { inRefundWords, type RefundWords } from '../../../api/checkout-page/words/refund-words.js';
import { SCRIPT_WORDS } from '../../../api/checkout-page/words/script-words.js';
import { fill, type Terms, type Words } from '../../../api/checkout-page/words/words.js';

const KEYS = Object.keys(EN) as (keyof Words)[];
const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

describe('the languages of the page', () => {
  it('are thirteen or more, one of them right to left', () => {
    assert.ok(LANGUAGES.length >= 13);
    assert.ok(LANGUAGES.some(({ direction }) => direction === 'rtl'));
    assert.ok(KEYS.length > 60);
  });

  for (const { tag, words } of LANGUAGES) {
    it(`${tag} has every text, with the same placeholders`, () => {
      assert.deepEqual(Object.keys(words).sort(), [...KEYS].sort());
      for (const key of KEYS) {
        assert.notEqual(words[key].trim(), '', key);
        assert.deepEqual(placeholders(words[key]), placeholders(EN[key]), `${tag} ${key}`);
        assert.doesNotMatch(words[key], /[<>]/, key);
      }
    });

    it(`${tag} leaves no text in English`, () => {
      if (tag === 'en') return;
      const same = KEYS.filter((key) => words[key] === EN[key] && placeholders(EN[key]).length === 0);
      assert.deepEqual(
        same.filter((key) => !['transaction'].includes(key)),
        [],
      );
    });
  }

  const refund = Object.keys(EN_REFUND) as (keyof RefundWords)[];
  for (const { tag, words, refundWords: own } of LANGUAGES) {
    it(`${tag} has its own texts for refunds, with the same placeholders`, () => {
      assert.deepEqual(Object.keys(own), refund);
      for (const key of refund) {
        const english = EN_REFUND[key];
        assert.deepEqual(placeholders(own[key]), placeholders(english), key);
        assert.doesNotMatch(own[key], /[<>]/, key);
        if (tag !== 'en') assert.notEqual(own[key], english, key);
      }
      const page = inRefundWords(words, own);
      assert.deepEqual(Object.keys(page), Object.keys(words));
      const replaced = KEYS.filter((key) => page[key] !== words[key]);
      assert.equal(replaced.length, 23);
      for (const key of replaced) assert.deepEqual(placeholders(page[key]), placeholders(words[key]), key);
    });
  }

  const SPEAKS_OF: [term: keyof Terms, words: (keyof Words)[]][] = [
    ['order', ['processingOther', 'paidElsewhere', 'otherPaid', 'failedChanged']],
    ['request', ['badRequest']],
    ['payment', ['processingOther', 'stages']],
    ['network', ['network', 'choice', 'failedNetwork']],
    ['wallet', ['payHeading', 'nextWallet']],
    ['token', ['choice', 'nextToken']],
  ];
  for (const { tag, words, refundWords, terms } of LANGUAGES) {
    it(`${tag} keeps to its glossary, and tells an order from a request`, () => {
      // The first letters: the rest of a word may be inflected.
      const lower = (text: string): string => text.toLocaleLowerCase(tag);
      const stem = (term: string): string => lower(term).slice(0, Math.max(2, term.length - 3));
      for (const [term, keys] of SPEAKS_OF) {
        for (const key of keys)
          assert.ok(lower(words[key]).includes(stem(terms[term])), `${term} in ${key}: ${words[key]}`);
      }
      assert.ok(lower(refundWords.paid).includes(stem(terms.refund)), refundWords.paid);
      assert.notEqual(terms.order, terms.request);
      assert.ok(!words.badRequest.toLowerCase().includes(terms.order.toLowerCase()));
    });

    it(`${tag} speaks to a merchant of the refund, not of an order`, () => {
      for (const [key, text] of Object.entries(refundWords)) {
        if (key !== 'what')
          assert.ok(!text.toLowerCase().includes(terms.order.toLowerCase()), `${key}: ${text}`);
      }
    });
  }

  it('give the script existing texts', () => {
    assert.deepEqual(
      SCRIPT_WORDS.filter((word) => !KEYS.includes(word)),
      [],
    );
    assert.equal(new Set(SCRIPT_WORDS).size, SCRIPT_WORDS.length);
  });

  it('are chosen by weight in Accept-Language', () => {
    for (const [header, tag] of [
      [undefined, 'en'],
      ['', 'en'],
      ['fr;q=0.2, de;q=0.7', 'de'],
      ['ZH-Hant-TW', 'zh-TW'],
      ['zh-HK, en', 'zh-TW'],
      ['zh-CN', 'zh'],
      ['zh-Hans', 'zh'],
      ['hi-IN, en;q=0.8', 'hi'],
      ['pt-BR, pt;q=0.9', 'pt'],
      ['*', 'en'],
      ['den', 'en'],
      [';;;,,q=1', 'en'],
      ['de;q=nonsense, fr', 'fr'],
    ] as const) {
      assert.equal(chooseLanguage(header).tag, tag, header);
    }
  });

  it('fill each placeholder once, and leave unknown ones', () => {
    assert.equal(fill('{a} {b} {a}', { a: '{b}', b: '2' }), '{b} 2 {b}');
    assert.equal(fill('{c}', {}), '{c}');
  });
});
