import { type Random, shuffled } from '../chance/seeded-random.js';
import {
  answers,
  answersGarbage,
  answersHtml,
  type Behaviour,
  breaksBeforeWork,
  refuses,
  slow,
} from './dial.js';
import { type Certainty, type SettleFault, settleFaults, WORD_FAULTS } from './settle-faults.js';
import { WORDS } from './words.js';

/** A way in which an endpoint of the facilitator misbehaves. */
export interface FaultMode {
  name: string;
  behaviour: Behaviour;
  /** A clear answer that is false: believing it is correct behaviour, and the money counts as late. */
  lies: boolean;
}

interface FaultModes {
  modes: readonly FaultMode[];
  /** Modes of which each deck has a few. */
  words: readonly FaultMode[];
}

const HONEST: FaultMode = { name: 'honest', behaviour: {}, lies: false };
const WORDS_IN_A_DECK = 12;
/** Clear refusals that are also drawn although the money moves. */
const LIES = /^(invalid_exact_evm_payload_signature|kyt_risk_detected)$/;

/** `tooSlowMs` is longer than the caller waits. */
export function settleFaultModes(tooSlowMs: number): FaultModes {
  return {
    modes: Object.entries(settleFaults(tooSlowMs)).flatMap(([name, fault]) => [
      ...modesOf(name, fault),
      ...(LIES.test(name) ? [lie(`${name}, and done`, fault, true)] : []),
      // A check may come between a doubtful refusal and the money.
      ...(LIES.test(name) || fault.certainty === 'refused doubtfully'
        ? [lie(`${name}, and done afterwards`, fault, 'after_answering')]
        : []),
    ]),
    words: Object.entries(WORD_FAULTS).flatMap(([word, fault]) => modesOf(`the word ${word}`, fault)),
  };
}

export function verifyFaultModes(tooSlowMs: number): FaultModes {
  const refusal = { isValid: false, invalidReason: 'insufficient_funds' };
  const forbidden = { isValid: false, invalidReason: 'kyt_risk_detected' };
  return {
    modes: toModes({
      'refused, 200': refuses('insufficient_funds'),
      'refused, 400': answers(400, refusal),
      'refused, 412': answers(412, refusal),
      'refused, 403': answers(403, forbidden),
      '400 without a verdict': answers(400),
      '401': answers(401),
      '403': answers(403),
      '429': answers(429),
      '500': answers(500),
      '502 as HTML': answersHtml(502),
      '503 as HTML': answersHtml(503),
      garbage: answersGarbage(),
      reset: breaksBeforeWork('reset'),
      dropped: breaksBeforeWork('drop'),
      'too slow': slow(tooSlowMs),
    }),
    words: toModes(Object.fromEntries(WORDS.map((word) => [`the word ${word}`, refuses(word)]))),
  };
}

export function supportedFaultModes(tooSlowMs: number): FaultModes {
  return {
    modes: toModes({
      '500': answers(500),
      garbage: answersGarbage(),
      reset: breaksBeforeWork('reset'),
      'too slow': slow(tooSlowMs),
    }),
    words: [],
  };
}

interface Drawn {
  calls: number;
  failingShare: number;
  wordsInADeck?: number;
}

/** Every fault mode has its turn, with some of the words, before any repeats; and so has every word over several decks. */
export function drawFaultModes(
  random: Random,
  { modes, words }: FaultModes,
  { calls, failingShare, wordsInADeck = WORDS_IN_A_DECK }: Drawn,
): FaultMode[] {
  let deck: FaultMode[] = [];
  let wordsLeft: FaultMode[] = [];
  const drawWords = (): FaultMode[] => {
    const count = Math.min(wordsInADeck, words.length);
    const drawn = wordsLeft.splice(0, count);
    if (drawn.length === count) return drawn;
    wordsLeft = shuffled(random, words);
    return [...drawn, ...wordsLeft.splice(0, count - drawn.length)];
  };
  return Array.from({ length: calls }, () => {
    if (random() >= failingShare) return HONEST;
    if (deck.length === 0) {
      deck = shuffled(random, [...modes, ...drawWords()]);
    }
    return deck.pop() ?? HONEST;
  });
}

/** A doubtful refusal too: the chain decides about it. */
const LEAVES_OPEN: ReadonlySet<Certainty> = new Set(['unclear', 'hung up', 'refused doubtfully']);

/** Returns the modes of a fault: the money has moved only where the answer leaves that open. */
function modesOf(name: string, { certainty, behaviour }: SettleFault): FaultMode[] {
  const notDone: FaultMode = {
    name: `${name}, nothing done`,
    behaviour: { ...behaviour, works: false },
    lies: false,
  };
  const done: FaultMode = { name: `done, ${name}`, behaviour: { ...behaviour, works: true }, lies: false };
  if (certainty === 'settled') return [done];
  return LEAVES_OPEN.has(certainty) ? [notDone, done] : [notDone];
}

function lie(name: string, { behaviour }: SettleFault, works: true | 'after_answering'): FaultMode {
  return { name: `lied: ${name}`, behaviour: { ...behaviour, works }, lies: true };
}

function toModes(behaviours: Record<string, Behaviour>): FaultMode[] {
  return Object.entries(behaviours).map(([name, behaviour]) => ({ name, behaviour, lies: false }));
}
