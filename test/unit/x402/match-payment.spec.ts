import assert from 'node:assert/strict';
import {
  paymentHeader,
  type SolanaOverrides,
  signEvmPayment,
  signSolanaPayment,
} from '../../../lab/world/shop/agent.js';
import type { WellFormedHeader } from '../../../shared/x402/headers.js';
import { matchPayment, type Offer, type PaymentMatch } from '../../../shared/x402/match-payment.js';
import { payer } from '../../../shared/x402/payload.js';
import {
  ACCOUNT,
  assertPays,
  assertRefused,
  BUYER,
  EVM,
  EVM_PAYLOAD,
  match,
  OFFER,
  OTHER_FEE_PAYER,
  SVM,
} from './matching.js';
import { ACCEPTS, ALL_SUPPORTED, entryFor, FEE_PAYER, SOLANA_DEVNET } from './offers.js';

async function matchAccepted(
  changes: object,
  entry = EVM,
  payload: object = EVM_PAYLOAD,
): Promise<PaymentMatch> {
  return await match(paymentHeader({ ...entry, ...changes }, payload));
}

describe('matching `accepted`', () => {
  it('finds each entry that is offered', async () => {
    for (const entry of ACCEPTS) {
      const isEvm = entry.network.startsWith('eip155:');
      const payload = isEvm
        ? await signEvmPayment(entry, { account: ACCOUNT })
        : signSolanaPayment(entry, { payer: BUYER });
      const result = await match(paymentHeader(entry, payload));
      assert.ok(result.ok);
      assert.deepEqual(result.requirements, entry);
      assert.equal(payer(result.proof), isEvm ? ACCOUNT.address : BUYER.publicKey.toBase58());
    }
  });

  describe('returns our own entry, whatever the buyer changes in', () => {
    for (const [title, changes] of Object.entries({
      'the timeout': { maxTimeoutSeconds: 9_999_999 },
      'the domain': { extra: { name: 'Another', version: '9' } },
      'no extra': { extra: undefined },
      'the case of the asset': { asset: EVM.asset.toLowerCase() },
      'the case of the asset, upwards': { asset: EVM.asset.toUpperCase() },
      'the case of the wallet': { payTo: EVM.payTo.toLowerCase() },
      'the order of its fields': Object.fromEntries(Object.entries(EVM).reverse()),
    })) {
      it(title, () => assertPays(matchAccepted(changes), EVM));
    }

    it('scheme and network beside `accepted`', async () => {
      const beside = { scheme: 'upto', network: 'eip155:1', extensions: {}, resource: { url: 'x' } };
      await assertPays(match(paymentHeader(EVM, EVM_PAYLOAD, beside)), EVM);
    });
  });

  describe('refuses', () => {
    const other = entryFor('eip155:80002');
    const refusals: Record<string, [changes: object, code: string]> = {
      'another scheme': [{ scheme: 'upto' }, 'unsupported_scheme'],
      'another scheme on another network': [{ scheme: 'upto', network: 'eip155:1' }, 'unsupported_scheme'],
      'a network that is not offered': [{ network: 'eip155:8453' }, 'invalid_network'],
      'a network by its name of version 1': [{ network: 'base-sepolia' }, 'invalid_network'],
      'a network in another case': [{ network: 'EIP155:84532' }, 'invalid_network'],
      'the network of another entry': [{ network: other.network }, 'invalid_payment_requirements'],
      'another asset': [{ asset: other.asset }, 'invalid_payment_requirements'],
      'another wallet': [{ payTo: ACCOUNT.address }, 'invalid_payment_requirements'],
      'a lower amount': [{ amount: '99999' }, 'invalid_payment_requirements'],
      'a higher amount': [{ amount: '100001' }, 'invalid_payment_requirements'],
      'the amount as a number': [{ amount: 100_000 }, 'invalid_payment_requirements'],
      'no scheme': [{ scheme: undefined }, 'invalid_payment_requirements'],
      'a scheme that is no text': [{ scheme: ['exact'] }, 'invalid_payment_requirements'],
      'no network': [{ network: undefined }, 'invalid_payment_requirements'],
      'a network that is no text': [{ network: 84532 }, 'invalid_payment_requirements'],
      'no asset': [{ asset: null }, 'invalid_payment_requirements'],
      'an asset that is no text': [{ asset: [EVM.asset] }, 'invalid_payment_requirements'],
    };
    for (const [title, [changes, code]] of Object.entries(refusals)) {
      it(`${title}: ${code}`, () => assertRefused(matchAccepted(changes), code));
    }

    it('an empty `accepted`: invalid_payment_requirements', async () => {
      const header: WellFormedHeader = { kind: 'v2', accepted: {}, payload: { ...EVM_PAYLOAD } };
      await assertRefused(matchPayment(header, OFFER), 'invalid_payment_requirements');
    });

    it('a mint or a Solana wallet in another case', async () => {
      const payload = signSolanaPayment(SVM, { payer: BUYER });
      for (const changes of [{ asset: SVM.asset.toLowerCase() }, { payTo: SVM.payTo.toLowerCase() }]) {
        await assertRefused(matchAccepted(changes, SVM, payload), 'invalid_payment_requirements');
      }
    });

    it('everything when nothing is offered', async () => {
      await assertRefused(match(paymentHeader(EVM, EVM_PAYLOAD), { accepts: [] }), 'invalid_network');
    });

    it('a payload without the fields of its family: invalid_payload', async () => {
      const ofSolana = signSolanaPayment(SVM, { payer: BUYER });
      for (const payload of [{}, ofSolana])
        await assertRefused(matchAccepted({}, EVM, payload), 'invalid_payload');
      for (const payload of [EVM_PAYLOAD, { transaction: 'AAAA' }])
        await assertRefused(matchAccepted({}, SVM, payload), 'invalid_payload');
    });

    it('a wrong entry before a wrong payload', async () => {
      await assertRefused(matchAccepted({ amount: '1' }, EVM, {}), 'invalid_payment_requirements');
    });
  });

  it('refuses another version: invalid_x402_version', async () => {
    await assertRefused(match(paymentHeader(EVM, EVM_PAYLOAD, { x402Version: 3 })), 'invalid_x402_version');
  });
});

describe("a Solana payment's fee payer", () => {
  const feePayers = { supported: new Map([[SOLANA_DEVNET, [FEE_PAYER, OTHER_FEE_PAYER.toBase58()]]]) };

  async function matchSolana(parts: SolanaOverrides, offer: Partial<Offer> = {}): Promise<PaymentMatch> {
    return await match(paymentHeader(SVM, signSolanaPayment(SVM, { payer: BUYER, ...parts })), offer);
  }

  it('is replaced by ours when it is listed for another network only', async () => {
    const supported = new Map([...ALL_SUPPORTED, ['solana:other', [OTHER_FEE_PAYER.toBase58()]]]);
    await assertPays(matchSolana({ feePayer: OTHER_FEE_PAYER }, { supported }), SVM);
  });

  it('is the one in the transaction, not the one in `accepted`', async () => {
    const claimed = { ...SVM, extra: { feePayer: OTHER_FEE_PAYER.toBase58() } };
    const payload = signSolanaPayment(SVM, { payer: BUYER });
    await assertPays(match(paymentHeader(claimed, payload), feePayers), SVM);
  });

  it('does not change the offered entries', async () => {
    const before = structuredClone(ACCEPTS);
    await matchSolana({ feePayer: OTHER_FEE_PAYER }, feePayers);
    assert.deepEqual(ACCEPTS, before);
  });
});
