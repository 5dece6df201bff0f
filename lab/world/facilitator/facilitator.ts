import { Keypair } from '@solana/web3.js';
import type { ExpectedToken } from './endpoints.js';
import type { Movement, RuleOptions } from './judgement.js';
import { LedgerRules } from './rules.js';
import { type FacilitatorServer, serveFacilitator } from './server.js';

/** A facilitator without a chain: `ledger` holds each movement of money. */
export interface FakeFacilitator extends FacilitatorServer {
  feePayers: readonly string[];
  ledger: readonly Movement[];
}

export interface FacilitatorOptions extends Partial<RuleOptions> {
  tokens?: ExpectedToken;
}

export async function startFacilitator({
  strict = false,
  feePayers = [Keypair.generate().publicKey.toBase58()],
  tokens,
  ...options
}: FacilitatorOptions = {}): Promise<FakeFacilitator> {
  const rules = new LedgerRules({ ...options, strict, feePayers });
  const server = await serveFacilitator({ openRules: () => rules, tokens });
  return { ...server, feePayers, ledger: rules.ledger };
}
