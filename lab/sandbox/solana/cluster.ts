import type { SvmNetwork } from '../../../shared/chains/networks/networks.js';
import { parseSolanaWallet } from '../../../shared/chains/networks/wallet-address.js';
import { RpcEndpoint } from '../../world/chains/rpc-endpoint.js';
import type { PreferredPort } from '../../world/http/listen.js';
import type { Dials } from '../dials/dials.js';
import { fundLamports, fundTokens, openTokenAccount, seedMints } from './funding.js';
import { NO_JOURNAL, openJournal } from './journal.js';
import { Ledger } from './ledger.js';
import { createRpcMethods } from './rpc-methods.js';
import type { Delays } from './slots.js';

export interface Cluster {
  /** The endpoint has the dials of any chain's endpoint. */
  endpoint: RpcEndpoint;
  url: string;
  ledger: Ledger;
  setBlocks(pace: Dials['blocks']): void;
  /** Funds a wallet with SOL and each token. */
  fund(wallet: string): void;
  /** Opens a wallet's token account, which its owner must have to be paid. */
  openTokenAccount(wallet: string, mint: string): void;
  stop(): Promise<void>;
}

interface ClusterOptions {
  network: SvmNetwork;
  port: PreferredPort;
  /** Persists the cluster between two starts. */
  journalFile?: string | undefined;
}

const DELAYS: Record<Dials['blocks'], Delays> = {
  at_once: { confirmedAfterMs: 0, finalizedAfterMs: 1200 },
  slow: { confirmedAfterMs: 3000, finalizedAfterMs: 4200 },
  halted: { confirmedAfterMs: 0, finalizedAfterMs: 1200 },
};

export async function startCluster({ network, port, journalFile }: ClusterOptions): Promise<Cluster> {
  const journal = journalFile === undefined ? NO_JOURNAL : openJournal(journalFile);
  const ledger = new Ledger(journal);
  seedMints(ledger, network);
  const delays = { ...DELAYS.at_once };
  const endpoint = await RpcEndpoint.start(createRpcMethods(ledger, delays), port);
  return {
    endpoint,
    url: endpoint.url,
    ledger,
    setBlocks(pace) {
      Object.assign(delays, DELAYS[pace]);
      if (pace === 'halted') ledger.halt();
      else ledger.resume();
    },
    fund(wallet) {
      fundLamports(ledger, wallet);
      fundTokens(ledger, network, wallet);
    },
    openTokenAccount(wallet, mint) {
      const token = network.tokens.find(({ address }) => address === mint);
      if (token !== undefined && parseSolanaWallet(wallet) === wallet)
        openTokenAccount(ledger, wallet, token);
    },
    async stop() {
      await endpoint.close();
      journal.close();
    },
  };
}
