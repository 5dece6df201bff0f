import type { Visitor } from '../../../lab/world/page/visit.js';

/** Browsers log a page with another status than 200; nothing else may be logged. */
export async function expectStatus(status: number, visit: () => Promise<Visitor>): Promise<Visitor> {
  const visitor = await visit();
  const logged = visitor.problems.findIndex((problem) => problem.includes(`status of ${status}`));
  if (logged >= 0) visitor.problems.splice(logged, 1);
  return visitor;
}
