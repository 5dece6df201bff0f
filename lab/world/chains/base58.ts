const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function toBase58(bytes: Uint8Array): string {
  let text = '';
  for (let rest = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
    text = `${ALPHABET[Number(rest % 58n)]}${text}`;
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

/** Throws on a character outside of the alphabet. */
export function fromBase58(text: string): Uint8Array {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) throw new Error(`${character} is no character of base58`);
    value = value * 58n + BigInt(digit);
  }
  const digits = value === 0n ? '' : value.toString(16);
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Uint8Array.from([...Array<number>(zeros).fill(0), ...bytes]);
}
