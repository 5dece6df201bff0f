import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { eraseSession } from '../../../shared/checkout-sessions/erase.js';
import { createLogger } from '../../../shared/process/logger.js';
import { resendEvent } from '../../../shared/webhooks/resend.js';
import { cleanUp } from '../../../workers/process/clean-up.js';
import { assertRefused, runCommand, runJson } from '../../support/cli.js';
import { useCliDatabase } from '../../support/cli-database.js';
import { forAllTests } from '../../support/hooks.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import { untilOneWaits } from '../../support/until-one-waits.js';
import { type Hook, openWebhookFlow } from '../../support/webhook-flow.js';

const LONG_AGO = new Date('2020-01-01');
const EMAIL = 'grace"o\'hopper@buyers.example';
/** Metadata belongs to the merchant and is kept, even under the name `customer_email`. */
const METADATA = { customer_email: 'kept@merchants.example', note: '"customer_email":"x"' };

describe("erasure of buyers' personal data", () => {
  const flow = forAllTests(() => openWebhookFlow('erasure'));
  let hook: Hook;
  before(async () => {
    hook = await flow.addEndpoint();
    hook.receiver.react((response, { raw }) => response.writeHead(200).end(raw));
  });
  useCliDatabase(() => flow.databaseUrl);

  const emailOf = (name: string): string => `${name}@buyers.example`;

  async function create(name: string, key?: string): Promise<string> {
    const asked = {
      ...minimal,
      customer_email: emailOf(name),
      metadata: METADATA,
      client_reference_id: name,
    };
    const post = flow.api.post(SESSIONS, asked);
    const { body } = await (key === undefined ? post : post.set('Idempotency-Key', key)).expect(200);
    assert.equal(body.customer_email, emailOf(name));
    return body.id;
  }

  /** Counts the rows that contain `words`, by table. */
  async function tablesWith(words: string): Promise<Record<string, number>> {
    const { rows: tables } = await flow.db.raw(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    );
    const found: Record<string, number> = {};
    for (const { name } of tables) {
      const { rows } = await flow.db.raw(
        `SELECT count(*)::int FROM ${name} AS held WHERE strpos(held::text, ?) > 0`,
        [words],
      );
      if (rows[0].count > 0) found[name] = rows[0].count;
    }
    return found;
  }

  const settled = (session: string): Promise<void> =>
    eventually(async () => {
      const { rows } = await flow.db.raw(
        `SELECT delivery.status FROM webhook_deliveries delivery JOIN events ON events.id = event_id
         WHERE payable_id = ?`,
        [session],
      );
      assert.ok(rows.length > 0 && rows.every(({ status }: { status: string }) => status === 'succeeded'));
    });

  /** An expired session and its event, which was delivered. */
  async function expired(name: string): Promise<[session: string, event: string]> {
    const session = await create(name);
    await flow.api.post(`${SESSIONS}/${session}/expire`).expect(200);
    await settled(session);
    const [{ id }] = (await flow.api.get(`/v1/events?checkout_session=${session}`)).body.data;
    return [session, id];
  }

  const clean = (days: number): Promise<void> =>
    cleanUp(
      {
        db: flow.db,
        logger: createLogger('silent', 'test'),
        config: { retentionPersonalDays: days },
      },
      () => false,
    );

  describe('of one session', () => {
    it("removes every copy of the buyer's e-mail address and changes nothing else", async () => {
      const session = await create('ada', 'ada-creates');
      await flow.pay(session);
      await settled(session);
      const paid = (await flow.api.get(`${SESSIONS}/${session}?expand[]=line_items`)).body;
      const [event] = (await flow.api.get(`/v1/events?checkout_session=${session}`)).body.data;
      const again = `/v1/events/${event.id}/resend`;
      await flow.api.post(again).set('Idempotency-Key', 'ada-again').expect(200);
      await settled(session);
      const copies = { payables: 1, events: 1, webhook_deliveries: 2, idempotency_records: 2 };
      assert.deepEqual(await tablesWith(emailOf('ada')), copies);
      const payments = await flow.payments(session);

      const printed = await runJson('erase-personal', session);
      assert.deepEqual(printed, {
        checkout_session: session,
        customer_email: null,
        erased: { sessions: 1, events: 1, delivery_answers: 2, kept_answers: 2 },
      });
      assert.deepEqual(await tablesWith(emailOf('ada')), {});
      const erased = (await flow.api.get(`${SESSIONS}/${session}?expand[]=line_items`)).body;
      assert.deepEqual(erased, { ...paid, customer_email: null });
      assert.deepEqual(await flow.payments(session), payments);
      const { text } = await flow.api.get(`/v1/events/${event.id}`).expect(200);
      const expected = { ...event, data: { object: { ...event.data.object, customer_email: null } } };
      assert.equal(text, JSON.stringify(expected));
    });

    it('keeps idempotent replays one session, and resends events with the erased content, newly signed', async () => {
      const session = await create('bob', 'bob-creates');
      const spelled = session.replace('_', '%5F');
      await flow.api.post(`${SESSIONS}/${spelled}/expire`).set('Idempotency-Key', 'bob-expires').expect(200);
      await settled(session);
      await runJson('erase-personal', session);
      assert.deepEqual(await tablesWith(emailOf('bob')), {});
      const asked = {
        ...minimal,
        customer_email: emailOf('bob'),
        metadata: METADATA,
        client_reference_id: 'bob',
      };
      const replayed = await flow.api.post(SESSIONS, asked).set('Idempotency-Key', 'bob-creates').expect(200);
      assert.equal(replayed.headers['idempotent-replayed'], 'true');
      assert.deepEqual(
        [replayed.body.id, replayed.body.customer_email, replayed.body.metadata],
        [session, null, METADATA],
      );
      const before_ = hook.receiver.got.length;
      const [event] = (await flow.api.get(`/v1/events?checkout_session=${session}`)).body.data;
      await flow.api.post(`/v1/events/${event.id}/resend`).expect(200);
      await eventually(() => assert.equal(hook.receiver.got.length, before_ + 1));
      assert.equal(hook.receiver.got.at(-1)?.raw, JSON.stringify(event));
      assert.equal(event.data.object.customer_email, null);
    });

    it("may be repeated, works for any address, and leaves merchants' own metadata as it is", async () => {
      const { body } = await flow.api
        .post(SESSIONS, { ...minimal, customer_email: EMAIL.replace(/"/, ''), metadata: METADATA })
        .set('Idempotency-Key', 'twice')
        .expect(200);
      await flow.db('payables').where({ id: body.id }).update({ customerEmail: EMAIL });
      await flow.api.post(`${SESSIONS}/${body.id}/expire`).expect(200);
      await settled(body.id);
      assert.equal((await runJson('erase-personal', body.id)).erased.events, 1);
      const { erased } = await runJson('erase-personal', body.id);
      assert.deepEqual(erased, { sessions: 0, events: 0, delivery_answers: 0, kept_answers: 0 });
      const [{ data }] = (await flow.api.get(`/v1/events?checkout_session=${body.id}`)).body.data;
      assert.deepEqual([data.object.customer_email, data.object.metadata], [null, METADATA]);
      const { text } = await flow.api
        .post(SESSIONS, { ...minimal, customer_email: EMAIL.replace(/"/, ''), metadata: METADATA })
        .set('Idempotency-Key', 'twice');
      assert.deepEqual(JSON.parse(text).metadata, METADATA);
    });

    for (const status of [200, 500]) {
      it(`keeps no answer to a webhook that is in flight meanwhile, ${status}`, async () => {
        const name = `in-flight-${status}`;
        const receiver = await flow.addEndpoint();
        const held: (() => void)[] = [];
        receiver.receiver.react((response, { raw }) => {
          held.push(() => response.writeHead(status).end(raw));
        });
        const session = await create(name);
        await flow.api.post(`${SESSIONS}/${session}/expire`).expect(200);
        await eventually(() => assert.equal(held.length, 1));
        await runJson('erase-personal', session);
        for (const answer of held) answer();
        const { history } = await flow.afterTries(receiver.id, 1);
        await flow.api.delete(`/v1/webhook_endpoints/${receiver.id}`).expect(200);
        assert.deepEqual(
          history.map((entry) => [entry.status, entry.answer]),
          [[status, null]],
        );
        assert.deepEqual(await tablesWith(emailOf(name)), {});
      });
    }

    for (const way of ['merchants', 'resend-event', 'resend-events'] as const) {
      it(`holds an event that is sent again meanwhile, by ${way}`, async () => {
        const [session, event] = await expired(way);
        const resend = async (): Promise<void> => {
          const merchant = flow.api.post(`/v1/events/${event}/resend`).set('Idempotency-Key', way);
          if (way === 'merchants') await merchant.expect(200);
          else await runJson(way, ...(way === 'resend-event' ? [event] : ['--since', '2020-01-01']));
        };
        const erasure = await flow.db.transaction();
        const resent = (async () => {
          await eraseSession(erasure, session);
          await resend();
          await settled(session);
        })();
        await Promise.race([untilOneWaits(flow.db), resent]).finally(() => erasure.commit());
        await resent;
        assert.deepEqual(await tablesWith(emailOf(way)), {});
      });
    }

    it('waits for an event that is being sent again', async () => {
      const [session, event] = await expired('nora');
      const resend = await flow.db.transaction();
      await resendEvent(resend, event, hook.id);
      const erased = runJson('erase-personal', session);
      await Promise.race([untilOneWaits(flow.db), erased]).finally(() => resend.commit());
      await erased;
      await settled(session);
      const { rows } = await flow.db.raw(
        'SELECT answers_removed AS removed FROM webhook_deliveries WHERE event_id = ?',
        [event],
      );
      assert.deepEqual(rows, [{ removed: true }, { removed: true }]);
    });

    it('is refused for a session that can still be paid and for an unknown session', async () => {
      const session = await create('carl');
      await assertRefused(/is open: only a session that is complete or expired/, 'erase-personal', session);
      await flow.db('payables').where({ id: session }).update({ status: 'processing' });
      await assertRefused(/is processing: .* Wait until/, 'erase-personal', session);
      await assertRefused(/No such checkout session: 'cs_test_none'/, 'erase-personal', 'cs_test_none');
      await assertRefused(/Usage: merchants erase-personal <cs id>/, 'erase-personal');
      assert.deepEqual(await tablesWith(emailOf('carl')), { payables: 1 });
    });

    it('is recorded in the audit log without the address', async () => {
      const session = await create('dora');
      await flow.api.post(`${SESSIONS}/${session}/expire`).expect(200);
      await settled(session);
      await runCommand('erase-personal', session);
      const [{ what, about, arguments: given } = assert.fail()] = (await runJson('audit')).actions;
      assert.deepEqual([what, about, given], ['erase-personal', session, {}]);
      assert.deepEqual(await tablesWith(emailOf('dora')), {});
    });
  });

  describe('by age', () => {
    it("happens the configured number of days after a session's end, and only for sessions that have ended", async () => {
      const [over, stuck, paid] = [await create('emil'), await create('gus'), await create('ida')];
      await create('fay');
      await flow.api.post(`${SESSIONS}/${over}/expire`).expect(200);
      await settled(over);
      await flow.db('payables').where({ id: stuck }).update({ status: 'processing', expiresAt: LONG_AGO });
      await flow.db('payables').where({ id: paid }).update({ status: 'complete', expiresAt: LONG_AGO });
      await flow.db.raw(`UPDATE payables SET expires_at = now() - interval '6 days 23 hours' WHERE id = ?`, [
        over,
      ]);
      await clean(7);
      assert.equal((await tablesWith(emailOf('emil'))).payables, 1);
      assert.deepEqual(await tablesWith(emailOf('ida')), {});
      await flow.db.raw(`UPDATE payables SET expires_at = now() - interval '7 days 1 hour' WHERE id = ?`, [
        over,
      ]);
      await clean(7);
      // The stored answers for Idempotency-Keys are gone by then: they are kept for one day.
      assert.deepEqual(await tablesWith(emailOf('emil')), {});
      for (const name of ['fay', 'gus']) assert.equal((await tablesWith(emailOf(name))).payables, 1);
      assert.equal((await flow.session(over)).clientReferenceId, 'emil');
    });

    it('is off by default', async () => {
      const session = await create('hal');
      await flow.api.post(`${SESSIONS}/${session}/expire`).expect(200);
      await flow.db('payables').where({ id: session }).update({ expiresAt: LONG_AGO });
      const { config } = flow.app;
      assert.equal(config.retentionPersonalDays, undefined);
      await cleanUp({ db: flow.db, logger: createLogger('silent', 'test'), config }, () => false);
      const { body } = await flow.api.get(`${SESSIONS}/${session}`);
      assert.equal(body.customer_email, emailOf('hal'));
    });
  });
});
