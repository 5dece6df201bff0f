/** The wire format of x402 version 2. Incoming values are parsed in `headers`, `payload` and `facilitator-answers`. */
export const PAYMENT_REQUIRED_HEADER = 'PAYMENT-REQUIRED';
export const PAYMENT_RESPONSE_HEADER = 'PAYMENT-RESPONSE';
/** The header of version 1. */
export const X_PAYMENT_RESPONSE_HEADER = 'X-PAYMENT-RESPONSE';

/** x402's extension for signed offers and receipts. */
export const OFFER_RECEIPT = 'offer-receipt';

/** The EIP-712 domain of the authorization, by name and version. */
export interface EvmExtra {
  name: string;
  version: string;
  /** The type that the buyer signs: only in offers, like Solana's memo. */
  primaryType?: 'TransferWithAuthorization';
}

export interface SvmExtra {
  feePayer: string;
  /** The memo that the buyer's transaction should carry: only in offers, never in requests to a facilitator. */
  memo?: string;
}

/** One entry of `accepts`. */
export interface PaymentRequirements {
  scheme: 'exact';
  /** CAIP-2. */
  network: string;
  /** Amount in the token's smallest unit. */
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: EvmExtra | SvmExtra;
}

export interface ResourceInfo {
  url: string;
  description: string;
  mimeType: string;
  /** At most 32 printable ASCII characters, as each of `tags`. */
  serviceName?: string;
  tags: readonly string[];
  iconUrl?: string;
}

export interface PaymentRequired {
  x402Version: 2;
  error: string;
  /** The code of a failure; absent unless a signed payment failed. */
  code?: string;
  resource: ResourceInfo;
  accepts: readonly PaymentRequirements[];
  /** Extensions that a buyer may use. */
  extensions: Record<string, object>;
}

export interface EvmPayload {
  signature: string;
  authorization: {
    from: string;
    to: string;
    value: string;
    /** Unix seconds, like `validBefore`. */
    validAfter: string;
    validBefore: string;
    nonce: string;
  };
}

export interface SvmPayload {
  /** Partially signed, base64. */
  transaction: string;
}

interface PaymentPayload {
  x402Version: 2;
  accepted: PaymentRequirements;
  payload: EvmPayload | SvmPayload;
}

/** The body of `POST /verify` and of `POST /settle`. */
export interface FacilitatorRequest {
  x402Version: 2;
  paymentPayload: PaymentPayload;
  paymentRequirements: PaymentRequirements;
}

export interface SettlementResponse {
  success: boolean;
  /** Empty when nothing was settled. */
  transaction: string;
  network: string;
  payer?: string;
  errorReason?: string;
  extensions?: { [OFFER_RECEIPT]: ReceiptExtension };
}

/** A JWS in compact form: of a receipt, or of an offer. */
export interface SignedStatement {
  format: 'jws';
  signature: string;
}

export interface ReceiptExtension {
  info: { receipt: SignedStatement };
  schema: object;
}
