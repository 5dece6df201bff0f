import type { TextName } from '../../shared/session-fields/fields.js';

export const EMOJI = '🥐'; // One character, two UTF-16 units, four bytes.

export const urlOf = (length: number) =>
  `https://a.example/${'u'.repeat(length - 'https://a.example/'.length)}`;

interface TextCase {
  sent: string;
  ofLength(characters: number): string;
  /** Lengths in characters. */
  allowed: number[];
  refused: number;
}

/** The promised limits of each text field of a session, apart from the rows that are to keep them. */
export const TEXT_CASES: Record<TextName, TextCase> = {
  success_url: {
    sent: 'https://shop.example/thanks?order=7&cs={CHECKOUT_SESSION_ID}#top',
    ofLength: urlOf,
    allowed: [5000],
    refused: 5001,
  },
  cancel_url: {
    sent: 'http://localhost:8080/cart',
    ofLength: urlOf,
    allowed: [5000],
    refused: 5001,
  },
  client_reference_id: {
    sent: 'order-7',
    ofLength: (n) => EMOJI.repeat(n),
    allowed: [1, 200],
    refused: 201,
  },
  customer_email: {
    sent: 'buyer+7@mail.example',
    ofLength: (n) => `${'b'.repeat(n - '@mail.example'.length)}@mail.example`,
    allowed: [254],
    refused: 255,
  },
};

export const TEXT_NAMES = Object.keys(TEXT_CASES);

const texts = <T>(value: (text: TextCase) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(TEXT_CASES).map(([name, text]) => [name, value(text)]));

export const TEXTS_SENT = texts(({ sent }) => sent);
export const TEXTS_LEFT_OUT = texts(() => null);
