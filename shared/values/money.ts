/** Amounts up to this total are exact as JavaScript numbers and as JSON numbers. */
export const MAX_TOTAL_CENTS = Number.MAX_SAFE_INTEGER;

/** US cents in a token's smallest unit; tokens are worth one dollar and have at least two decimals. */
export function centsToTokenAmount(amountCents: number, tokenDecimals: number): bigint {
  return BigInt(amountCents) * 10n ** BigInt(tokenDecimals - 2);
}

/** 1050 cents are 10.50. */
export function dollarText(cents: number): `${number}` {
  return decimalText(String(cents), 2);
}

/** An amount in its smallest unit as a decimal number: ('1050', 2) is 10.50. */
export function decimalText(digits: string, decimals: number): `${number}` {
  const padded = digits.padStart(decimals + 1, '0');
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}` as `${number}`;
}
