import assert from 'node:assert/strict';
import {
  type FacilitatorOptions,
  type FakeFacilitator,
  startFacilitator,
} from '../../../lab/world/facilitator/facilitator.js';
import {
  type EvmOverrides,
  type SolanaOverrides,
  signEvmPayment,
  signSolanaPayment,
} from '../../../lab/world/shop/agent.js';
import {
  type FacilitatorReply,
  readSettleAnswer,
  readVerifyAnswer,
} from '../../../shared/x402/facilitator/facilitator-answers.js';
import { parsePayload } from '../../../shared/x402/parse-payload.js';
import { buildFacilitatorRequest } from '../../../shared/x402/payload.js';
import { buildAccepts, parseSupported } from '../../../shared/x402/requirements.js';
import type { FacilitatorRequest, PaymentRequirements } from '../../../shared/x402/wire.js';
import { ACCOUNT, BUYER } from './matching.js';
import { BASE_SEPOLIA, EVM_WALLET, SOLANA_DEVNET, SOLANA_WALLET } from './offers.js';

/** Calls the facilitator as the service does, and returns each verdict as a short text. */
class FacilitatorCaller {
  readonly #url: string;

  constructor({ url }: FakeFacilitator) {
    this.#url = url;
  }

  async get(path: string): Promise<unknown> {
    return await (await fetch(`${this.#url}${path}`)).json();
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<FacilitatorReply> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      return { error };
    }
  }

  async verify(request: unknown): Promise<string> {
    const verdict = readVerifyAnswer(await this.post('/verify', request));
    return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
  }

  async settle(request: unknown): Promise<string> {
    const verdict = readSettleAnswer(await this.post('/settle', request), BASE_SEPOLIA);
    if (verdict.kind === 'rejected') return verdict.reason;
    return verdict.kind === 'settled' ? 'settled' : `${verdict.kind}: ${verdict.why}`;
  }

  async evmRequest(parts: EvmOverrides = {}): Promise<FacilitatorRequest> {
    const entry = await this.#offer(BASE_SEPOLIA);
    return requestFor(entry, await signEvmPayment(entry, { account: ACCOUNT, ...parts }));
  }

  async svmRequest(parts: SolanaOverrides = {}): Promise<FacilitatorRequest> {
    const entry = await this.#offer(SOLANA_DEVNET);
    return requestFor(entry, signSolanaPayment(entry, { payer: BUYER, ...parts }));
  }

  async #offer(network: string): Promise<PaymentRequirements> {
    const supported = parseSupported(await this.get('/supported'));
    assert.ok(supported);
    const wallets = { evm: EVM_WALLET, solana: SOLANA_WALLET };
    const accepts = buildAccepts({ livemode: false, wallets, amountCents: 10, supported });
    const entry = accepts.find((offered) => offered.network === network);
    assert.ok(entry);
    return entry;
  }
}

function requestFor(entry: PaymentRequirements, payload: object): FacilitatorRequest {
  const proof = parsePayload(entry.network, { ...payload });
  assert.ok(proof);
  return buildFacilitatorRequest(entry, proof);
}

/** The fake facilitator of the running test, and its caller. */
export let facilitator: FakeFacilitator;
export let caller: FacilitatorCaller;

export async function start(options: FacilitatorOptions): Promise<void> {
  facilitator = await startFacilitator(options);
  caller = new FacilitatorCaller(facilitator);
}
