/** The largest total: every amount stays an exact JavaScript number and an exact JSON number. */
export const MAX_TOTAL_CENTS = Number.MAX_SAFE_INTEGER;

/** US cents in a token's smallest unit; tokens are worth one dollar and have at least two decimals. */
export function centsToTokenAmount(amountCents: number, tokenDecimals: number): bigint {
  return BigInt(amountCents) * 10n ** BigInt(tokenDecimals - 2);
}
