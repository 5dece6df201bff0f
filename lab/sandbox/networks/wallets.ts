/**
 * The sandbox's keys. They are public: never send real money to them. A signature made with them here is valid on the
 * real test networks too, if the wallet held anything there. On EVM they are some of the development accounts that
 * anvil and hardhat share.
 */
export const EVM_BUYER_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
export const EVM_FACILITATOR_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a';
/** Two facilitators that send with one key would take the same account nonce. */
export const EVM_SECOND_FACILITATOR_KEY =
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6';

/** 64 bytes in base58, the export format of Solana wallets. */
export const SOLANA_BUYER_KEY =
  '4BWrXUQPa5M71nTRPBiCy8scSq1KHKuwcZcPaaT4TudJhq7PALYYcPrVmWT4phsEpGYRvrsvxqwB7cQZuKuUXZnC';
export const SOLANA_FACILITATOR_KEY =
  '51N4BQe3ATSVnWRRzTAUm3JuFCSAqA8UEMdVJuZn43Bc21KhfgzpQyHL3trF5xVAY67fwSSx3bEiMj1kFhUrqowf';
export const SOLANA_SECOND_FACILITATOR_KEY =
  '5B4s5Pbjz4qctRZ9GruSomyNJYz8VQ9rBGCKnvmyUEKEYxUD7HyGmWV8UVNDQVckvvdUr54sW22wZ9c4Jq7899Xi';

/** The demo merchant is paid to these wallets, and pays its refunds from them. The sandbox does not fund them. */
export const EVM_MERCHANT_KEY = '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6';
export const SOLANA_MERCHANT_KEY =
  'qYwzQAaky5ykFtLs3jQ88MrgJehE4md5EQRY7zPhmUSWS6AD1VJnZvYmd6tkgTNUboD2v5AoZXaoa3WH6T6tcMD';

/** How much of every token of its family a wallet is funded with. */
export const FUNDED_DOLLARS = 1_000_000n;
