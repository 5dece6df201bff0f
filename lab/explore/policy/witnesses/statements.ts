import { canMove, type Fact } from './world.js';

/** The answer to a buyer: it has paid; no money was taken; or the outcome is unknown. */
export type Statement = 'paid' | 'nothing' | 'uncertain';

/** How the ledger of the world contradicts a statement. A false word of a witness that counts excuses it. */
export function contradiction(fact: Fact, told: Statement): string | undefined {
  if (fact.isLiedAbout) return undefined;
  if (told === 'paid') return fact.use === 'payment' ? undefined : 'told paid, and no money has moved';
  if (told === 'uncertain') return fact.isOver ? undefined : 'told uncertain while the authorization is good';
  if (fact.use === 'payment') return 'told that nothing was taken, and the money has moved';
  return canMove(fact) ? 'told that nothing was taken, and the money can still move' : undefined;
}
