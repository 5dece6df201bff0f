const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const SIGNATURE_BYTES = 64;
const LONGEST = 88;

/** The text in base58 by which nodes name a transaction. */
export function presentSignature(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = `${ALPHABET[Number(number % 58n)]}${text}`;
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  return `${'1'.repeat(leadingZeros < 0 ? bytes.length : leadingZeros)}${text}`;
}

/** Whether a text is a Solana transaction signature: 64 bytes in base58. Nodes refuse any other text. */
export function isTransactionSignature(text: string): boolean {
  if (text.length > LONGEST) return false;
  let number = 0n;
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) return false;
    number = number * 58n + BigInt(digit);
  }
  const [leadingZeros = ''] = /^1*/.exec(text) ?? [];
  const bytes = number === 0n ? 0 : Math.ceil(number.toString(16).length / 2);
  return leadingZeros.length + bytes === SIGNATURE_BYTES;
}
