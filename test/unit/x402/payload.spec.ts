import assert from 'node:assert/strict';
import { type SolanaOverrides, signSolanaPayment } from '../../../lab/world/shop/agent.js';
import type { JsonObject } from '../../../shared/values/json-object.js';
import { parsePayload } from '../../../shared/x402/parse-payload.js';
import {
  buildFacilitatorRequest,
  type EvmAuthorization,
  endsAt,
  type PaymentProof,
  payer,
  payloadKey,
  toWirePayload,
} from '../../../shared/x402/payload.js';
import { ACCOUNT, BUYER, EVM, EVM_PAYLOAD, SVM } from './matching.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from './offers.js';

const NONCE = `0x${'aB'.repeat(32)}`;
const AUTHORIZATION = {
  from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  value: '100000',
  validAfter: '0',
  validBefore: '1800000000',
  nonce: NONCE,
};
const PAYLOAD = { signature: `0x${'12'.repeat(65)}`, authorization: AUTHORIZATION };
const MAX_UINT256 = 2n ** 256n - 1n;

function parseWith(changes: object): PaymentProof | undefined {
  return parsePayload(BASE_SEPOLIA, { ...PAYLOAD, authorization: { ...AUTHORIZATION, ...changes } });
}

function parseEvm(payload: JsonObject = PAYLOAD): EvmAuthorization {
  const proof = parsePayload(BASE_SEPOLIA, payload);
  assert.equal(proof?.family, 'evm');
  return proof;
}

function parseSvm(parts: SolanaOverrides = {}): PaymentProof {
  const proof = parsePayload(SOLANA_DEVNET, { ...signSolanaPayment(SVM, { payer: BUYER, ...parts }) });
  assert.ok(proof);
  return proof;
}

describe('parsing an EVM payload', () => {
  it('reads numbers as bigints and normalizes hex', () => {
    assert.deepEqual(parseEvm(), {
      family: 'evm',
      from: AUTHORIZATION.from,
      to: AUTHORIZATION.to,
      value: 100_000n,
      validAfter: 0n,
      validBefore: 1_800_000_000n,
      nonce: NONCE.toLowerCase(),
      signature: PAYLOAD.signature,
    });
  });

  it("reads an agent's payload", () => {
    const proof = parseEvm({ ...EVM_PAYLOAD });
    assert.equal(payer(proof), ACCOUNT.address);
    assert.deepEqual(toWirePayload(proof), EVM_PAYLOAD);
  });

  it('accepts addresses in any case', () => {
    for (const from of [AUTHORIZATION.from.toLowerCase(), AUTHORIZATION.from.toUpperCase()]) {
      const proof = parseWith({ from });
      assert.equal(proof?.family === 'evm' && proof.from, AUTHORIZATION.from);
    }
  });

  it('accepts the largest uint256', () => {
    const proof = parseWith({ value: MAX_UINT256.toString() });
    assert.equal(proof?.family === 'evm' && proof.value, MAX_UINT256);
  });

  it('leaves a signature of any length, that may be no hex, to the facilitator', () => {
    for (const signature of [`0x${'12'.repeat(600)}`, '0x', 'not-hex'])
      assert.equal(parseEvm({ ...PAYLOAD, signature }).signature, signature);
  });

  describe('refuses', () => {
    for (const [title, payload] of Object.entries<JsonObject>({
      nothing: {},
      'the payload of the other family': { transaction: 'AAAA' },
      'no signature': { authorization: AUTHORIZATION },
      'a signature that is a number': { ...PAYLOAD, signature: 18 },
      'an empty signature': { ...PAYLOAD, signature: '' },
      'a signature with a NUL': { ...PAYLOAD, signature: '0x12\u0000' },
      'a signature with a line break': { ...PAYLOAD, signature: '0x12\n' },
      'a signature with a lone surrogate': { ...PAYLOAD, signature: '0x12\ud800' },
      'no authorization': { signature: PAYLOAD.signature },
      'an authorization that is null': { ...PAYLOAD, authorization: null },
      'an authorization that is an array': { ...PAYLOAD, authorization: [AUTHORIZATION] },
      'an authorization in the prototype': JSON.parse(
        `{"signature":"0x12","authorization":{"__proto__":${JSON.stringify(AUTHORIZATION)}}}`,
      ),
      'a Permit2 payload': { signature: PAYLOAD.signature, permit2Authorization: AUTHORIZATION },
    })) {
      it(title, () => assert.equal(parsePayload(BASE_SEPOLIA, payload), undefined));
    }

    for (const field of Object.keys(AUTHORIZATION)) {
      for (const value of [undefined, null, 5, {}, [], '', true]) {
        it(`${field}: ${JSON.stringify(value)}`, () => {
          assert.equal(parseWith({ [field]: value }), undefined);
        });
      }
    }

    const numbers = {
      '0x in front': '0x186a0',
      'a decimal point': '100000.0',
      'a minus': '-100000',
      'a space': ' 100000',
      'a line feed': '100000\n',
      'Arabic digits': '١٠٠',
      '2^256': (MAX_UINT256 + 1n).toString(),
      'eighty digits': `${'0'.repeat(79)}1`,
    };
    for (const field of ['value', 'validAfter', 'validBefore']) {
      for (const [title, text] of Object.entries(numbers)) {
        it(`${field} with ${title}`, () => assert.equal(parseWith({ [field]: text }), undefined));
      }
    }

    const { from } = AUTHORIZATION;
    for (const address of [
      from.slice(2),
      from.slice(0, -2),
      `${from}00`,
      `0x${'g'.repeat(40)}`,
      `${from}\n`,
    ]) {
      it(`the address ${JSON.stringify(address)}`, () => {
        assert.equal(parseWith({ from: address }), undefined);
        assert.equal(parseWith({ to: address }), undefined);
      });
    }

    for (const nonce of [NONCE.slice(0, -2), `${NONCE}00`, NONCE.slice(2), '0x', '7', `${NONCE}\n`]) {
      it(`the nonce ${JSON.stringify(nonce)}`, () => assert.equal(parseWith({ nonce }), undefined));
    }
  });
});

describe('the payload key', () => {
  const key = (payload: JsonObject): string => payloadKey(BASE_SEPOLIA, EVM.asset, parseEvm(payload));
  const withParts = (parts: object): JsonObject => ({
    ...PAYLOAD,
    authorization: { ...AUTHORIZATION, ...parts },
  });

  it('is network, asset, payer and nonce on EVM', () => {
    assert.equal(key(PAYLOAD), [BASE_SEPOLIA, EVM.asset, AUTHORIZATION.from, NONCE].join(':').toLowerCase());
  });

  describe('stays the same with', () => {
    for (const [title, payload] of Object.entries<JsonObject>({
      'a payer in upper case': withParts({ from: AUTHORIZATION.from.toUpperCase() }),
      'a nonce in upper case, 0X too': withParts({ nonce: NONCE.toUpperCase() }),
      'another amount, which the signature would not cover': withParts({ value: '100001' }),
      'another signature': { ...PAYLOAD, signature: `0x${'34'.repeat(65)}` },
      'more fields': { ...withParts({ memo: 'x' }), transaction: 'AAAA' },
    })) {
      it(title, () => assert.equal(key(payload), key(PAYLOAD)));
    }

    it('the asset in another case', () => {
      assert.equal(payloadKey(BASE_SEPOLIA, EVM.asset.toLowerCase(), parseEvm()), key(PAYLOAD));
    });
  });

  describe('differs with', () => {
    for (const [title, payload] of Object.entries<JsonObject>({
      'another nonce': withParts({ nonce: `0x${'ac'.repeat(32)}` }),
      'another payer': withParts({ from: AUTHORIZATION.to }),
    })) {
      it(title, () => assert.notEqual(key(payload), key(PAYLOAD)));
    }

    it('another network, another token', () => {
      assert.notEqual(payloadKey('eip155:8453', EVM.asset, parseEvm()), key(PAYLOAD));
      assert.notEqual(payloadKey(BASE_SEPOLIA, AUTHORIZATION.to, parseEvm()), key(PAYLOAD));
    });
  });

  it('is network and message on Solana', () => {
    const proof = parseSvm();
    assert.equal(proof.family, 'svm');
    assert.equal(payloadKey(SOLANA_DEVNET, SVM.asset, proof), `${SOLANA_DEVNET}:${proof.messageHash}`);
  });
});

describe('the end of a payment', () => {
  const end = (validBefore: bigint): number | undefined => endsAt({ ...parseEvm(), validBefore })?.getTime();

  it('is validBefore on EVM', () => {
    assert.equal(end(1_800_000_000n), 1_800_000_000_000);
    assert.equal(end(0n), 0);
  });

  it('is the end of the year 9999 at most', () => {
    const last = Date.UTC(10_000, 0, 1) - 1000;
    for (const validBefore of [253_402_300_800n, 2n ** 53n, MAX_UINT256])
      assert.equal(end(validBefore), last);
  });

  it('is undefined for a Solana transaction', () => {
    assert.equal(endsAt(parseSvm()), undefined);
  });
});

describe('the request to the facilitator', () => {
  it('is our entry, twice, and the payload', () => {
    assert.deepEqual(buildFacilitatorRequest(EVM, parseEvm()), {
      x402Version: 2,
      paymentPayload: {
        x402Version: 2,
        accepted: EVM,
        payload: { ...PAYLOAD, authorization: { ...AUTHORIZATION, nonce: NONCE.toLowerCase() } },
      },
      paymentRequirements: EVM,
    });
  });

  it('has one notation', () => {
    const parts = { from: AUTHORIZATION.from.toUpperCase(), value: '0000100000', nonce: NONCE.toUpperCase() };
    const authorization = { ...AUTHORIZATION, ...parts };
    assert.deepEqual(toWirePayload(parseEvm({ ...PAYLOAD, authorization })), toWirePayload(parseEvm()));
  });

  it('holds no unread field, such as another authorization', () => {
    const decoy = { ...PAYLOAD, permit2Authorization: { from: AUTHORIZATION.to }, transaction: 'AAAA' };
    assert.deepEqual(toWirePayload(parseEvm(decoy)), toWirePayload(parseEvm()));
    const payload = signSolanaPayment(SVM, { payer: BUYER });
    const proof = parsePayload(SOLANA_DEVNET, { ...payload, ...PAYLOAD });
    assert.ok(proof);
    assert.deepEqual(toWirePayload(proof), payload);
  });

  it('parses to the same payment', () => {
    const proof = parseEvm();
    assert.deepEqual(parsePayload(BASE_SEPOLIA, { ...toWirePayload(proof) }), proof);
  });
});
