/**
 * By default, stock x402 clients pay at most one dollar, and only in tokens of a built-in list. A client that
 * refuses by itself shows its owner nothing but the 402.
 */
const LIMIT_CENTS = 100;

/** Offered tokens that are not on that list. A spec compares this with the list of the client package. */
const UNLISTED: ReadonlyMap<string, readonly string[]> = new Map([
  ['eip155:42161', ['0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9']],
  [
    'eip155:196',
    ['0x779Ded0c9e1022225f8E0630b35a9b54bE713736', '0x4ae46a509F6b1D9056937BA4500cb143933D2dc8'],
  ],
  ['eip155:10', ['0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85']],
  ['eip155:480', ['0x79A02482A880bCE3F13e09Da970dC34db4CD24d1']],
  ['eip155:57073', ['0xe343167631d89B6Ffc58B88d6b7fB0228795491D']],
  ['eip155:1', ['0xe343167631d89B6Ffc58B88d6b7fB0228795491D']],
  ['eip155:80002', ['0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582']],
  ['eip155:43113', ['0x5425890298aed601595a70AB815c96711a31Bc65']],
  [
    'eip155:1952',
    [
      '0xcB8BF24c6cE16Ad21D707c9505421a17f2bec79D',
      '0x9e29b3AaDa05Bf2D2c827Af80Bd28Dc0b9b4FB0c',
      '0xA78E2baaBaf5c4f36b7Fc394725Deb68D332EeC1',
    ],
  ],
  ['eip155:11155420', ['0x5fd84259d66Cd46123540766Be93DFE6D43130D7']],
  ['eip155:11155111', ['0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238']],
]);

interface Entry {
  network: string;
  asset: string;
}

/** `asset`: spelled as in the token table. */
export function isListedByStockClients({ network, asset }: Entry): boolean {
  return UNLISTED.get(network)?.includes(asset) !== true;
}

/** The settings a stock client needs for this payment; undefined when the defaults are enough. */
export function stockClientAdvice(
  amountCents: number,
  dollars: string,
  accepts: readonly Entry[],
): string | undefined {
  const hasUnlisted = accepts.some((entry) => !isListedByStockClients(entry));
  const tokens = 'allowedAssets: [{ network, asset }]';
  if (amountCents > LIMIT_CENTS && accepts.some(isListedByStockClients)) {
    const advice = `Stock x402 clients pay at most $1 until told client.setSpendControls({ maxAmountPerPayment: '${dollars}' })`;
    return hasUnlisted ? `${advice}; for a token they do not list add ${tokens}.` : `${advice}.`;
  }
  return hasUnlisted
    ? `Stock x402 clients pay in a token they do not list once told client.setSpendControls({ ${tokens} }).`
    : undefined;
}
