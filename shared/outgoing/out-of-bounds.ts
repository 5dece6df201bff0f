/** Each has the short name under which a try at a webhook shows it. */
export type BoundCode =
  | 'UND_ERR_HEADERS_OVERFLOW' // The name that undici gives to it.
  | 'TOO_MANY_INTERIM_ANSWERS'
  | 'TOO_MANY_PIECES'
  | 'ANSWER_TOO_LONG'
  | 'TOO_MANY_VALUES';

const WORDS: Record<BoundCode, string> = {
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too long",
  TOO_MANY_INTERIM_ANSWERS: 'too many interim answers',
  TOO_MANY_PIECES: 'the answer comes in too many pieces',
  ANSWER_TOO_LONG: 'the answer is too long',
  TOO_MANY_VALUES: 'the answer has too many values',
};

/** An answer exceeded a bound, and its connection was destroyed. The request was sent and may have been carried out. */
export class OutOfBounds extends Error {
  override readonly name = 'OutOfBounds';
  readonly code: BoundCode;

  constructor(code: BoundCode) {
    super(WORDS[code]);
    this.code = code;
  }
}
