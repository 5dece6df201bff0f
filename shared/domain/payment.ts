export const PAYMENT_STATUSES = ['processing', 'succeeded', 'failed'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export const TOKENS = ['USDC', 'USDT', 'USDG'] as const;
export type Token = (typeof TOKENS)[number];

/** How the buyer came: the hosted page, or an agent over x402. */
export const CHANNELS = ['page', 'x402'] as const;
export type Channel = (typeof CHANNELS)[number];
