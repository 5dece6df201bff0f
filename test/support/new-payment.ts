import { EVM_WALLET } from '../../lab/world/shop/factories.js';
import type { NewPayment } from '../../shared/settlement/claim.js';
import { newId } from '../../shared/values/ids.js';
import type { SignedPayment } from './checkout.js';

/** A buyer's payment that passed every check. */
export function newPayment(payableId: string, overrides: Partial<NewPayment> = {}): NewPayment {
  return {
    payableId,
    token: 'USDC',
    tokenAmount: '4500000',
    tokenDecimals: 6,
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payer: null,
    payTo: EVM_WALLET,
    channel: 'x402',
    identifier: null,
    payloadKey: newId('pay_'),
    requirements: {},
    payload: {},
    stage: 'settle',
    facilitator: null,
    arrivedAt: new Date(),
    validUntil: new Date(Date.now() + 300_000),
    ...overrides,
  };
}

/** A signed payment that passed every check. */
export function paymentOf(sessionId: string, { accepted, payload }: SignedPayment): NewPayment {
  const { network, asset, amount, payTo } = accepted;
  const { from, nonce, validBefore } = payload.authorization;
  return newPayment(sessionId, {
    tokenAmount: amount,
    network,
    asset,
    payer: from,
    payTo,
    payloadKey: [network, asset, from, nonce].join(':').toLowerCase(),
    requirements: accepted,
    payload,
    validUntil: new Date(Number(validBefore) * 1000),
  });
}
