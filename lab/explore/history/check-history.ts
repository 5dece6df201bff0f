import { readConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { Payment } from '../../../shared/payments/model.js';
import { judgeHistory } from '../../world/history/judge-history.js';

const BATCH = 1000;
const MOST_PRINTED = 100;

/** Checks the recorded history of every payment of a database; reads only. True when none contradicts the policy. */
export async function checkHistory(url: string, print: (line: string) => void): Promise<boolean> {
  const db = openDatabase(readConfig('cli', { DATABASE_URL: url }).database);
  let payments = 0;
  let violations = 0;
  try {
    for await (const batch of batches(db)) {
      payments += batch.length;
      for (const violation of batch.flatMap(judgeHistory)) {
        violations += 1;
        if (violations <= MOST_PRINTED) print(violation);
      }
    }
  } finally {
    await db.destroy();
  }
  print(`${payments} payments; ${violations} contradictions to the policy.`);
  return violations === 0;
}

async function* batches(db: ReturnType<typeof openDatabase>): AsyncGenerator<Payment[]> {
  for (let last = ''; ; ) {
    const batch = await Payment.query(db)
      .select('id', 'status', 'failureCode', 'transaction', 'history')
      .where('id', '>', last)
      .orderBy('id')
      .limit(BATCH);
    if (batch.length === 0) return;
    yield batch;
    last = batch.at(-1)?.id ?? last;
  }
}
