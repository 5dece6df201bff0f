import type { PayableEntry } from '../page-data.js';
import type { Holdings } from './choose-entry.js';
import type { EntryChoice } from './entry-choice.js';
import { addFromWallet, readHoldings } from './holdings.js';
import type { PageWallet } from './wallet.js';

/** The account that would pay and its balances. Balances of a previous account are never shown. */
export interface ConnectedAccount {
  isOf(wallet: PageWallet): boolean;
  /** Undefined when no account is connected. */
  address(): string | undefined;
  /** Sets the account with balances that are known already. */
  use(wallet: PageWallet, holdings: Holdings): void;
  /** Reads the balances of an account; shows none meanwhile if the account is a new one. */
  read(wallet: PageWallet, address: string | undefined): Promise<void>;
  /** Called when the wallet changed its network, which leaves the balances as they are. */
  move(): Promise<void>;
  /** Connects without a prompt if the wallet allows it, so that an entry is chosen before the buyer clicks. */
  readSilently(wallet: PageWallet): Promise<void>;
}

interface Parts {
  /** The URL path of the link. */
  path: string;
  entriesOf(wallet: PageWallet): readonly PayableEntry[];
  choice: EntryChoice;
  onShown(): void;
}

export function openAccount({ path, entriesOf, choice, onShown }: Parts): ConnectedAccount {
  let shown: { wallet: PageWallet; address: string; holdings: Holdings | undefined } | undefined;
  let reads = 0;

  function show(wallet: PageWallet, address: string | undefined, holdings: Holdings | undefined): void {
    shown = address === undefined ? undefined : { wallet, address, holdings };
    choice.showHoldings(holdings, entriesOf(wallet));
    onShown();
  }

  async function read(wallet: PageWallet, address: string | undefined): Promise<void> {
    reads += 1;
    const own = reads;
    const isSame = shown?.wallet === wallet && shown.address === address;
    if (!isSame) show(wallet, address, undefined);
    if (address === undefined) return;
    const holdings = await readHoldings(path, wallet, address, entriesOf(wallet));
    if (own === reads) show(wallet, address, holdings);
  }

  return {
    isOf: (wallet) => shown?.wallet === wallet,
    address: () => shown?.address,
    use(wallet, holdings) {
      reads += 1;
      show(wallet, holdings.address, holdings);
    },
    read,
    async move() {
      const own = reads;
      if (shown?.holdings === undefined) return;
      const { wallet, holdings } = shown;
      const network = await wallet.network().catch(() => undefined);
      const there = await addFromWallet({ ...holdings, network }, wallet, entriesOf(wallet));
      if (own === reads) show(wallet, there.address, there);
    },
    async readSilently(wallet) {
      const before = reads;
      const address = await wallet.connect('silently').catch(() => undefined);
      if (address !== undefined && before === reads) await read(wallet, address);
    },
  };
}
