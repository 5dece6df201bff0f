import path from 'node:path';
import type {
  Answer,
  BuyersEntry,
  EndpointEntry,
  FacilitatorEntry,
  FaultEntry,
  Received,
  Transfer,
} from '../actors/entries.js';
import { Journal } from '../actors/journal.js';
import { ActorProcess } from './actor-process.js';

/** The actors' journals. */
export interface Journals {
  buyers: Journal<BuyersEntry>;
  facilitator: Journal<FacilitatorEntry>;
  chain: Journal<Transfer>;
  solana: Journal<Transfer>;
  receiver: Journal<Received>;
  faults: Journal<FaultEntry>;
  endpoints: Journal<EndpointEntry | Answer>;
}

export interface StartedActor {
  actor: ActorProcess;
  /** The values that the actor reported when it was ready. */
  said: Record<string, unknown>;
}

export function openJournals(folder: string): Journals {
  const journal = <Entry extends object>(name: string): Journal<Entry> =>
    new Journal<Entry>(journalFile(folder, name));
  return {
    buyers: journal('buyers'),
    facilitator: journal('facilitator'),
    chain: journal('chain'),
    solana: journal('solana'),
    receiver: journal('receiver'),
    faults: journal('faults'),
    endpoints: journal('endpoints'),
  };
}

/** Starts an actor with a journal of its name, and waits until it is ready. */
export async function startActor(
  name: string,
  folder: string,
  settings: object,
  opened: (actor: ActorProcess) => void,
): Promise<StartedActor> {
  const actor = ActorProcess.start(name, folder, { ...settings, journal: journalFile(folder, name) });
  opened(actor);
  return { actor, said: await actor.waitFor('ready') };
}

function journalFile(folder: string, name: string): string {
  return path.join(folder, `${name}.jsonl`);
}
