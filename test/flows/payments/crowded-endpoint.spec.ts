import assert from 'node:assert/strict';
import { type CrowdedWorld, openCrowdedWorld, payInCrowd } from '../../../lab/bench/crowd/crowd.js';
import {
  killProcesses,
  startWebProcess,
  startWorkerProcess,
} from '../../../lab/world/processes/processes.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { Payment } from '../../../shared/payments/model.js';
import { createMigratedDatabase, testServices } from '../../support/suite.js';

/** `npm run bench -- crowded-endpoint` has 200 payments behind 10 calls a second, for one to four worker processes. */
const CROWD = { payments: 30, callsPerSecond: 25 };
const MOST_CALLS_EACH = 10;
const WITHIN_MS = 150_000;

describe(`${CROWD.payments} payments whose answers of /settle were lost`, () => {
  let world: CrowdedWorld;
  let db: Knex;
  let databaseUrl: string;

  before(async () => {
    databaseUrl = await createMigratedDatabase('crowded_endpoint');
    db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
    world = await openCrowdedWorld();
  });
  after(async () => {
    await killProcesses();
    await world.close();
    await db.destroy();
  });

  it(`complete on an endpoint that answers ${CROWD.callsPerSecond} calls a second to two worker processes, and none of their buyers is told 402`, async () => {
    const environment = {
      ...world.environment,
      DATABASE_URL: databaseUrl,
      REDIS_URL: testServices().redisUrl,
      BASE_URL: 'https://pay.example',
    };
    const [web] = await Promise.all([
      startWebProcess(environment),
      startWorkerProcess(environment),
      startWorkerProcess(environment),
    ]);
    const service = { db, webUrls: [`http://127.0.0.1:${web.port}`] };
    const { told, callsEach, limited } = await payInCrowd(world, service, CROWD, WITHIN_MS);
    assert.deepEqual(told, { 200: CROWD.payments });
    assert.ok(callsEach <= MOST_CALLS_EACH, `${callsEach} calls for each payment`);
    assert.ok(limited > 0, 'the endpoint has limited calls');
    const succeeded = await Payment.query(db).where({ status: 'succeeded' });
    assert.deepEqual(
      succeeded.map(({ transaction }) => transaction).sort(),
      world.facilitator.ledger.map(({ transaction }) => transaction).sort(),
    );
  });
});
