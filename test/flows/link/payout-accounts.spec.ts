import assert from 'node:assert/strict';
import { solanaBalances } from '../../../lab/world/chains/balances.js';
import { RpcEndpoint } from '../../../lab/world/chains/rpc-endpoint.js';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildMerchant, buildSession, SOLANA_WALLET } from '../../../lab/world/shop/factories.js';
import { findNetwork, type SvmNetwork } from '../../../shared/chains/networks/networks.js';
import { associatedTokenAccount } from '../../../shared/chains/solana/associated-token-account.js';
import { openCheckout, SOLANA_DEVNET } from '../../support/checkout.js';
import { assertRefused, runJson } from '../../support/cli.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { testServices } from '../../support/suite.js';

const NETWORK = findNetwork(SOLANA_DEVNET) as SvmNetwork;
const [USDC, ...OTHERS] = NETWORK.tokens.map((token) => ({
  mint: token.address,
  symbol: token.symbol,
  account: associatedTokenAccount(SOLANA_WALLET, token),
}));
assert.ok(USDC !== undefined && OTHERS.length > 0);

/** Starts a node on which all accounts exist except these. */
async function startRpc(missing: Set<string>): Promise<RpcEndpoint> {
  const balances = solanaBalances(NETWORK, (account) => (missing.has(account) ? undefined : 0n));
  return await RpcEndpoint.start(balances);
}

describe("a merchant's token accounts on Solana", () => {
  const rpc = forAllTests(() => startRpc(missing));
  const checkout = forAllTests(() =>
    openCheckout({
      worker: false,
      environment: { CHECK_TOKEN_ACCOUNTS: 'true', RPC_URL_SOLANA_DEVNET: rpc.url },
    }),
  );
  const missing = new Set<string>();

  async function mints(id: string): Promise<string[]> {
    const { accepts } = await checkout.quote(id);
    return accepts.filter(({ network }) => network === SOLANA_DEVNET).map(({ asset }) => asset);
  }

  it('are offered until one is known to be missing, which is then left out', async () => {
    missing.add(USDC.account);
    const { id } = await checkout.buildSession();
    assert.deepEqual(
      await mints(id),
      [USDC, ...OTHERS].map(({ mint }) => mint),
    );
    const others = OTHERS.map(({ mint }) => mint);
    await eventually(async () => assert.deepEqual(await mints(id), others));
  });

  it('are unavailable when every account is missing and there is no EVM wallet: 503', async () => {
    const wallet = 'Hs1X5YtXwZACueUtS9azZyXFDWVxAMLvm3tttubpK7ph';
    for (const token of NETWORK.tokens) missing.add(associatedTokenAccount(wallet, token));
    const { accountId } = await buildMerchant(checkout.app.db, { evmWallet: null, solanaWallet: wallet });
    const { id } = await buildSession(checkout.app.db, accountId);
    assert.equal(answerOf(await checkout.visit(id)), '402');
    await eventually(async () => {
      const answer = await checkout.visit(id);
      assert.equal(answerOf(answer), '503 payments_unavailable');
      assert.equal(answer.get('Retry-After'), '60');
    });
  });

  it('are all offered when the chain cannot be read', async () => {
    const wallet = 'CiDwVBFgWV9E5MvXWoLgnEgn2hK7rJikbvfWavzAQz3';
    for (const token of NETWORK.tokens) missing.add(associatedTokenAccount(wallet, token));
    const { accountId } = await buildMerchant(checkout.app.db, { solanaWallet: wallet });
    const { id } = await buildSession(checkout.app.db, accountId);
    rpc.fail('http_500', 'getMultipleAccounts');
    const before = rpc.callsOf('getMultipleAccounts');
    await mints(id);
    await eventually(() => assert.ok(rpc.callsOf('getMultipleAccounts') > before));
    assert.equal((await mints(id)).length, NETWORK.tokens.length);
  });
});

describe('the merchants command', () => {
  const set: Record<string, string> = {};
  const rpc = forAllTests(() => startRpc(new Set([USDC.account])));
  before(async () => {
    Object.assign(set, {
      DATABASE_URL: testServices().databaseUrl,
      CHECK_TOKEN_ACCOUNTS: 'true',
      RPC_URL_SOLANA_DEVNET: rpc.url,
      RPC_URL_SOLANA: `http://127.0.0.1:${await findFreePort()}`,
    });
    Object.assign(process.env, set);
  });
  after(async () => {
    for (const name of Object.keys(set)) delete process.env[name];
  });

  const expected = [
    {
      open_token_account: USDC.account,
      token: USDC.symbol,
      network: SOLANA_DEVNET,
      network_name: NETWORK.name,
    },
  ];

  it('prints the token accounts that a wallet still has to open, on create and on show', async () => {
    const created = await runJson('create', '--name', 'Shop', '--solana', SOLANA_WALLET);
    assert.deepEqual(created.token_accounts_to_open, expected);
    assert.match(created.keys.live, /^svc_ck_live_/);
    assert.deepEqual((await runJson('show', created.account.id)).token_accounts_to_open, expected);
  });

  it('prints none when the chain cannot be read or the account has no Solana wallet', async () => {
    const { account, ...rest } = await runJson('create', '--name', 'Shop');
    assert.deepEqual(Object.keys(rest), ['keys']);
    process.env.RPC_URL_SOLANA_DEVNET = process.env.RPC_URL_SOLANA;
    const updated = await runJson('update', account.id, '--solana', SOLANA_WALLET);
    assert.equal('token_accounts_to_open' in updated, false);
    await assertRefused(/acct_unknown/, 'show', 'acct_unknown');
  });
});
