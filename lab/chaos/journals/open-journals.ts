import path from 'node:path';
import {
  type Answer,
  type BuyersEntry,
  type EndpointEntry,
  type FacilitatorEntry,
  type FaultEntry,
  type Received,
  type Transfer,
  type UnrelatedTransfer,
  unrelatedJournalOf,
} from './entries.js';
import { Journal } from './journal.js';

/** The actors' journals. */
export interface Journals {
  buyers: Journal<BuyersEntry>;
  facilitator: Journal<FacilitatorEntry>;
  chain: Journal<Transfer>;
  solana: Journal<Transfer>;
  unrelated: Journal<UnrelatedTransfer>;
  receiver: Journal<Received>;
  faults: Journal<FaultEntry>;
  endpoints: Journal<EndpointEntry | Answer>;
}

export function openJournals(folder: string): Journals {
  const journal = <Entry extends object>(name: string): Journal<Entry> =>
    new Journal<Entry>(journalFile(folder, name));
  return {
    buyers: journal('buyers'),
    facilitator: journal('facilitator'),
    chain: journal('chain'),
    solana: journal('solana'),
    unrelated: new Journal<UnrelatedTransfer>(unrelatedJournalOf(journalFile(folder, 'solana'))),
    receiver: journal('receiver'),
    faults: journal('faults'),
    endpoints: journal('endpoints'),
  };
}

/** The journal of the actor or the part with this name. */
export function journalFile(folder: string, name: string): string {
  return path.join(folder, `${name}.jsonl`);
}
