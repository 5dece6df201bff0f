import { Keypair } from '@solana/web3.js';
import { runCommand } from '../processes/processes.js';

const EVM_WALLET = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720';

interface Wallets {
  evm: string;
  solana: string;
}

export async function migrateByCommand(environment: Record<string, string>): Promise<void> {
  await runCommand(['dist/shared/migrate.js'], environment);
}

/** Creates a merchant as an operator does. `key` is its test key. */
export async function createMerchant(
  name: string,
  environment: Record<string, string>,
  { evm, solana }: Wallets = { evm: EVM_WALLET, solana: Keypair.generate().publicKey.toBase58() },
): Promise<{ accountId: string; key: string }> {
  const wallets = ['--evm', evm, '--solana', solana];
  const args = ['local/commands/merchants.mjs', 'create', '--name', name, ...wallets, '--json'];
  const { account, keys } = JSON.parse(await runCommand(args, environment));
  return { accountId: account.id, key: keys.test };
}
