import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { findToken } from '../../../shared/chains/networks/networks.js';
import { associatedTokenAccount } from '../../../shared/chains/solana/associated-token-account.js';
import { SOLANA, SOLANA_DEVNET } from './offers.js';

const WALLET = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';

/** Accounts that @solana-program/token-2022 derives: network, mint, account. */
const ACCOUNTS: [network: string, mint: string, account: string][] = [
  [SOLANA, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'EfgTGUtpb3eSqqTZVWyGXbWA8Dkfgz817fVkgy9W7fWB'],
  [SOLANA, 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'G1zX82zMY4bjnSCZy23zh51DySf8iaycQBBFkfoyhDfw'],
  [SOLANA, '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH', '8KzLEaronGgEeZZBvDYUAedLSEXxMsFGN7Acx2vD5fUP'],
  [
    SOLANA_DEVNET,
    '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    'Hm3ofLeLdroEVnFayx8FjbBPRyibVcodjQiHaDWnT8Nq',
  ],
  [
    SOLANA_DEVNET,
    '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7',
    'BZViszibaFmyLHPABCrcqzofT8WqneK6ku8vQT9XUuTT',
  ],
];

describe('the associated token account', () => {
  for (const [network, mint, account] of ACCOUNTS) {
    it(`of a wallet for ${mint} is ${account}`, () => {
      const token = findToken(network, mint);
      assert.equal(token?.family, 'svm');
      assert.equal(associatedTokenAccount(WALLET, token), account);
    });
  }

  it('depends on the wallet and on the token program', () => {
    const [, mint, account] = ACCOUNTS[0] ?? [];
    const token = { address: String(mint), program: 'spl-token' } as const;
    assert.equal(associatedTokenAccount(WALLET, token), account);
    assert.notEqual(associatedTokenAccount(Keypair.generate().publicKey.toBase58(), token), account);
    assert.notEqual(associatedTokenAccount(WALLET, { ...token, program: 'token-2022' }), account);
  });
});
