import path from 'node:path';
import {
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
export type Journals = ReturnType<typeof openJournals>;

export function openJournals(folder: string) {
  const journal = <Entry extends object>(name: string): Journal<Entry> =>
    new Journal<Entry>(journalFile(folder, name));
  return {
    buyers: journal<BuyersEntry>('buyers'),
    facilitator: journal<FacilitatorEntry>('facilitator'),
    chain: journal<Transfer>('chain'),
    solana: journal<Transfer>('solana'),
    unrelated: new Journal<UnrelatedTransfer>(unrelatedJournalOf(journalFile(folder, 'solana'))),
    receiver: journal<Received>('receiver'),
    faults: journal<FaultEntry>('faults'),
    endpoints: journal<EndpointEntry>('endpoints'),
  };
}

/** The journal of the actor or the part with this name. */
export function journalFile(folder: string, name: string): string {
  return path.join(folder, `${name}.jsonl`);
}
