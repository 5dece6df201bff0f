import type { SvmNetwork } from '../../../shared/chains/networks.js';
import { parseSolanaWallet } from '../../../shared/chains/wallet-address.js';
import type { Dials } from '../facilitator/dials.js';
import { closeServer, listen, type PreferredPort, urlOf } from '../listen.js';
import { giveLamports, giveTokens, openTokenAccount, seedMints } from './gifts.js';
import { NO_JOURNAL, openJournal } from './journal.js';
import { type Ledger, openLedger } from './ledger.js';
import { createRpcMethods } from './rpc-methods.js';
import { createRpcServer } from './rpc-server.js';
import type { Delays } from './slots.js';

export interface Cluster {
  url: string;
  ledger: Ledger;
  setBlocks(pace: Dials['blocks']): void;
  /** Some SOL, and some of each token. */
  give(wallet: string): void;
  /** As the owner of a wallet would, who wants to be paid. */
  openTokenAccount(wallet: string, mint: string): void;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  network: SvmNetwork;
  port: PreferredPort;
  /** Keeps the cluster between two starts. */
  journalFile?: string | undefined;
}

const DELAYS: Record<Dials['blocks'], Delays> = {
  at_once: { confirmedAfterMs: 0, finalizedAfterMs: 1200 },
  slow: { confirmedAfterMs: 3000, finalizedAfterMs: 4200 },
  halted: { confirmedAfterMs: 0, finalizedAfterMs: 1200 },
};

export async function startCluster({ network, port, journalFile }: ClusterOptions): Promise<Cluster> {
  const journal = journalFile === undefined ? NO_JOURNAL : openJournal(journalFile);
  const ledger = openLedger(journal);
  seedMints(ledger, network);
  const delays = { ...DELAYS.at_once };
  const server = createRpcServer(createRpcMethods(ledger, delays));
  const chosen = await listen(server, port);
  return {
    url: urlOf(chosen),
    ledger,
    setBlocks(pace) {
      Object.assign(delays, DELAYS[pace]);
      if (pace === 'halted') ledger.halt();
      else ledger.resume();
    },
    give(wallet) {
      giveLamports(ledger, wallet);
      giveTokens(ledger, network, wallet);
    },
    openTokenAccount(wallet, mint) {
      const token = network.tokens.find(({ address }) => address === mint);
      if (token !== undefined && parseSolanaWallet(wallet) === wallet)
        openTokenAccount(ledger, wallet, token);
    },
    async stop() {
      await closeServer(server);
      journal.close();
    },
  };
}
