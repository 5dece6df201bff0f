/** The objects of /v1 that the dashboard shows, as /openapi.json describes them. */
export interface List<T> {
  data: T[];
  has_more: boolean;
}

export interface Payment {
  id: string;
  status: 'processing' | 'succeeded' | 'failed';
  amount: number;
  token: string;
  token_amount: string;
  token_decimals: number;
  network: string;
  network_name: string;
  payer: string | null;
  pay_to: string;
  channel: 'page' | 'x402';
  transaction: string | null;
  transaction_url: string | null;
  created: number;
  settled_at: number | null;
  livemode: boolean;
  /** Why the payment failed; only failed payments have it. */
  failure_code?: string | null;
  checkout_session?: string;
  refund?: string;
}

export interface LineItem {
  id: string;
  amount_total: number;
  description: string;
  quantity: number;
  price: { unit_amount: number; product_data: { description: string | null } };
}

export interface Session {
  id: string;
  amount_total: number;
  client_reference_id: string | null;
  customer_email: string | null;
  created: number;
  expires_at: number;
  livemode: boolean;
  metadata: Record<string, string>;
  success_url: string | null;
  cancel_url: string | null;
  status: 'open' | 'processing' | 'complete' | 'expired';
  url: string | null;
  payment: Payment | null;
  line_items?: List<LineItem>;
}

export interface Refund {
  id: string;
  amount: number;
  payment: string;
  checkout_session: string;
  status: 'requires_action' | 'pending' | 'succeeded' | 'canceled';
  reason: string | null;
  created: number;
  expires_at: number;
  token: string;
  token_amount: string;
  token_decimals: number;
  network_name: string;
  pay_to: string;
  url: string | null;
  transaction: string | null;
  transaction_url: string | null;
  settled_at: number | null;
  failure_code: string | null;
}

export interface Endpoint {
  id: string;
  url: string;
  enabled_events: string[];
  status: 'enabled' | 'disabled';
  description: string | null;
  created: number;
  secret?: string;
}

export interface DeliveryTry {
  at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  answer: string | null;
}

export interface Delivery {
  id: string;
  event: string;
  type: string;
  status: 'pending' | 'succeeded' | 'failed' | 'dropped';
  created: number;
  next_try_at: number | null;
  tries: DeliveryTry[];
}

export interface Event {
  id: string;
  created: number;
  type: string;
  data: { object: { id: string; object: string } };
}

export interface Key {
  id: string;
  name: string;
  access?: 'full' | 'read';
  payout_wallets: { evm: string | null; solana: string | null };
  created: number;
  last_used?: number | null;
  facilitator_key?: string | null;
}

export interface DailyReport {
  date: string;
  payments: number;
  amount: number;
  refunds: number;
  refunded: number;
  surplus: number;
  by: DailyShare[];
}

/** The sums of a token on a network on a day. */
export interface DailyShare {
  token: string;
  network: string;
  network_name: string;
  payments: number;
  amount: number;
  refunds: number;
  refunded: number;
}
