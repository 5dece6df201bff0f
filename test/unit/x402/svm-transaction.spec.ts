import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import {
  advanceNonce,
  LIGHTHOUSE_PROGRAM,
  type SolanaOverrides,
  signSolanaPayment,
  tokenAccount,
  tokenProgram,
  transferChecked,
} from '../../../lab/world/shop/agent.js';
import { parseSvmTransaction, type SvmTransfer } from '../../../shared/x402/svm-transaction.js';
import { lookupTable } from '../chains/solana-payment.js';
import { BUYER, SVM as USDC } from './matching.js';
import { entryFor, FEE_PAYER, SOLANA_DEVNET, SOLANA_WALLET } from './offers.js';

const USDG = entryFor(SOLANA_DEVNET, 'USDG');
const BLOCKHASH = Keypair.generate().publicKey.toBase58();
const STRANGER = Keypair.generate().publicKey;

function sign(parts: SolanaOverrides = {}, entry = USDC): string {
  return signSolanaPayment(entry, { payer: BUYER, blockhash: BLOCKHASH, memo: 'x', ...parts }).transaction;
}

function parse(text: string): SvmTransfer {
  const transaction = parseSvmTransaction(text);
  assert.ok(transaction);
  return transaction;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64');
}

function withData(data: number[]): TransactionInstruction {
  const { programId, keys } = transferChecked(USDC, BUYER.publicKey);
  return new TransactionInstruction({ programId, keys, data: Buffer.from(data) });
}

function call(programId: PublicKey, data: number[]): TransactionInstruction {
  return new TransactionInstruction({ programId, keys: [], data: Buffer.from(data) });
}

describe('parsing a Solana transaction', () => {
  it("reads the stock client's", () => {
    const text = sign();
    const program = tokenProgram(SOLANA_DEVNET, USDC.asset);
    const { message } = VersionedTransaction.deserialize(bytesOf(text));
    assert.deepEqual(parse(text), {
      family: 'svm',
      transactionBase64: text,
      messageHash: createHash('sha256').update(message.serialize()).digest('hex'),
      blockhash: BLOCKHASH,
      feePayer: FEE_PAYER,
      transfers: [
        {
          program: 'spl-token',
          source: tokenAccount(BUYER.publicKey, USDC.asset, program).toBase58(),
          mint: USDC.asset,
          destination: tokenAccount(new PublicKey(SOLANA_WALLET), USDC.asset, program).toBase58(),
          authority: BUYER.publicKey.toBase58(),
          amount: 100_000n,
          decimals: 6,
        },
      ],
      isReadable: true,
      usesDurableNonce: false,
    });
  });

  for (const [title, parts, expected, entry = USDC] of [
    ['transfers of Token-2022', {}, { program: 'token-2022', mint: USDG.asset }, USDG],
    ['legacy transactions', { version: 'legacy' }, { amount: 100_000n }],
    ['amounts beyond 2^53', { amount: 2n ** 64n - 1n }, { amount: 2n ** 64n - 1n }],
  ] as const) {
    it(`reads ${title}`, () => {
      const { transfers, feePayer, isReadable } = parse(sign(parts, entry));
      assert.deepEqual(transfers, [{ ...transfers[0], ...expected }]);
      assert.deepEqual([feePayer, isReadable], [FEE_PAYER, true]);
    });
  }

  it('reads every transfer', () => {
    const after = [transferChecked(USDC, BUYER.publicKey, { amount: 1n })];
    const amounts = parse(sign({ after })).transfers.map(({ amount }) => amount);
    assert.deepEqual(amounts, [100_000n, 1n]);
  });

  describe('is readable', () => {
    for (const [title, parts] of Object.entries<SolanaOverrides>({
      'without a memo': { memo: null },
      'with Lighthouse instructions': {
        after: [call(LIGHTHOUSE_PROGRAM, [1]), call(LIGHTHOUSE_PROGRAM, [2])],
      },
      'with a transfer of SOL': {
        after: [SystemProgram.transfer({ fromPubkey: BUYER.publicKey, toPubkey: STRANGER, lamports: 1 })],
      },
      'without any transfer': { instructions: [], signers: [] },
    })) {
      it(title, () => assert.equal(parse(sign(parts)).isReadable, true));
    }
  });

  describe('is not readable', () => {
    const tokens = tokenProgram(SOLANA_DEVNET, USDC.asset);
    const lookupTables = [lookupTable([tokenAccount(new PublicKey(SOLANA_WALLET), USDC.asset, tokens)])];
    for (const [title, parts] of Object.entries<SolanaOverrides>({
      'with an unknown program': { after: [call(STRANGER, [1, 2, 3])] },
      'with an account in a lookup table': { lookupTables },
      'with a plain Transfer': { after: [call(tokens, [3, 1, 0, 0, 0, 0, 0, 0, 0])] },
      'with another instruction of the token program': { after: [call(tokens, [7])] },
      'with a TransferChecked cut short': { after: [call(tokens, [12, 1, 0])] },
      'with a TransferChecked without accounts': { after: [call(tokens, [12, 1, 0, 0, 0, 0, 0, 0, 0, 6])] },
      'with a TransferChecked of all accounts, cut short': { after: [withData([12, 1, 0])] },
      'with an instruction that only looks like TransferChecked': {
        after: [withData([13, 1, 0, 0, 0, 0, 0, 0, 0, 6])],
      },
      'with an empty instruction of the token program': { after: [call(tokens, [])] },
    })) {
      it(title, () => assert.equal(parse(sign(parts)).isReadable, false));
    }

    it('but still returns the readable transfers', () => {
      assert.equal(parse(sign({ after: [call(STRANGER, [])] })).transfers.length, 1);
      assert.deepEqual(parse(sign({ lookupTables })).transfers, []);
    });
  });

  describe('detects a durable nonce', () => {
    for (const version of [0, 'legacy'] as const) {
      it(`in a transaction of version ${version}`, () => {
        const before = [advanceNonce(BUYER.publicKey)];
        assert.equal(parse(sign({ before, version })).usesDurableNonce, true);
      });
    }

    it('with trailing bytes', () => {
      const advance = advanceNonce(BUYER.publicKey);
      advance.data = Buffer.concat([advance.data, Buffer.from([0])]);
      assert.equal(parse(sign({ before: [advance] })).usesDurableNonce, true);
    });

    it('not in other instructions of the system program', () => {
      const { publicKey: fromPubkey } = BUYER;
      const after = [SystemProgram.transfer({ fromPubkey, toPubkey: STRANGER, lamports: 4 })];
      assert.equal(parse(sign({ after })).usesDurableNonce, false);
      assert.equal(parse(sign({ after: [call(SystemProgram.programId, [4])] })).usesDurableNonce, false);
    });
  });
});

describe("a Solana message's hash", () => {
  const text = sign();

  it('does not change with signatures', () => {
    const bytes = bytesOf(text);
    const [count = 0] = bytes;
    assert.equal(count, 2);
    for (const offset of [1, 65]) {
      const tampered = Buffer.from(bytes);
      tampered.fill(7, offset, offset + 64);
      assert.equal(parse(tampered.toString('base64')).messageHash, parse(text).messageHash);
    }
  });

  it('does not change with the base64 alphabet, and is sent on in the standard one', () => {
    const spellings = [
      bytesOf(text).toString('base64url'),
      text.replace(/=+$/, ''),
      text.replaceAll('+', '-').replaceAll('/', '_'),
    ];
    for (const spelling of spellings) assert.deepEqual(parse(spelling), parse(text));
  });

  it('changes with the memo, the blockhash, the amount and the fee payer', () => {
    const others = [
      sign({ memo: 'y' }),
      sign({ blockhash: STRANGER.toBase58() }),
      sign({ amount: 1n }),
      sign({ feePayer: STRANGER }),
    ];
    const hashes = [text, ...others].map((transaction) => parse(transaction).messageHash);
    assert.equal(new Set(hashes).size, 5);
  });
});

describe('a Solana transaction is refused for', () => {
  const bytes = bytesOf(sign());
  const legacy = bytesOf(sign({ version: 'legacy' }));
  const messageOffset = 1 + 2 * 64;

  function spliced(source: Buffer, start: number, deleted: number, ...inserted: number[]): string {
    return Buffer.concat([
      source.subarray(0, start),
      Buffer.from(inserted),
      source.subarray(start + deleted),
    ]).toString('base64');
  }

  for (const [title, text] of Object.entries({
    'no text': '',
    'text that is not base64': '!!not base64!!',
    'base64 with a line feed': `${bytes.toString('base64')}\n`,
    'only zeros': Buffer.alloc(200).toString('base64'),
    'one cut short': bytes.subarray(0, -1).toString('base64'),
    'one without its message': bytes.subarray(0, messageOffset).toString('base64'),
    'one with a byte after its end': spliced(bytes, bytes.length, 0, 0),
    'a legacy one with a byte after its end': spliced(legacy, legacy.length, 0, 0),
    'one whose signatures are counted in two bytes': spliced(bytes, 0, 1, 0x82, 0x00),
    'a legacy one whose signatures are counted in three bytes': spliced(legacy, 0, 1, 0x82, 0x80, 0x00),
    'one whose lookup tables are counted in two bytes': spliced(bytes, bytes.length - 1, 1, 0x80, 0x00),
    'one with more signatures than signers': spliced(bytes, 0, 1, 3, ...Array<number>(64).fill(0)),
    'one with fewer signatures than signers': spliced(bytes, 0, 1 + 64, 1),
    'one of version 1': spliced(bytes, messageOffset, 1, 0x81),
    'a megabyte': 'A'.repeat(1_000_000),
  })) {
    it(title, () => assert.equal(parseSvmTransaction(text), undefined));
  }

  it('one over 1232 bytes, which no node would take', () => {
    const largest = 1232 - bytesOf(sign({ version: 'legacy', memo: '' })).length - 1;
    assert.ok(parseSvmTransaction(sign({ version: 'legacy', memo: 'x'.repeat(largest) })));
    assert.equal(parseSvmTransaction(sign({ version: 'legacy', memo: 'x'.repeat(largest + 1) })), undefined);
  });

  it('one without signers', () => {
    const unsigned = Buffer.concat([Buffer.from([0]), legacy.subarray(messageOffset)]);
    unsigned[1] = 0;
    assert.equal(VersionedTransaction.deserialize(unsigned).signatures.length, 0);
    assert.equal(parseSvmTransaction(unsigned.toString('base64')), undefined);
  });

  it('but not one with an instruction of a program that is not there', () => {
    const transaction = VersionedTransaction.deserialize(bytes);
    const [first] = transaction.message.compiledInstructions;
    assert.ok(first);
    first.programIdIndex = 200;
    const text = Buffer.from(transaction.serialize()).toString('base64');
    assert.equal(parse(text).isReadable, false);
  });
});
