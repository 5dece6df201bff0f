import assert from 'node:assert/strict';
import { buildMerchant, buildPaidSession } from '../../lab/world/shop/factories.js';
import { newId, sessionPrefix } from '../../shared/values/ids.js';
import { assertMissing, type Client, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { minimal, SESSIONS } from '../support/orders.js';

describe('a key is shown only the objects of its own account and mode', () => {
  const app = forAllTests(openTestApp);

  /** An account in a mode, with sessions of its own. */
  interface Owner {
    account: string;
    livemode: boolean;
    api: Client;
    session: string;
    lineItem: string;
    paidSession: string;
  }
  const owners: Owner[] = [];

  before(async () => {
    for (const account of ['A', 'B']) {
      const merchant = await buildMerchant(app.db);
      for (const livemode of [true, false]) {
        const api = client(app, livemode ? merchant.liveKey : merchant.testKey);
        const session = await api.post(SESSIONS, { ...minimal, expand: ['line_items'] }).expect(200);
        const paid = await buildPaidSession(app.db, merchant.accountId, { livemode });
        owners.push({
          account,
          livemode,
          api,
          session: session.body.id,
          lineItem: session.body.line_items.data[0].id,
          paidSession: paid.session.id,
        });
      }
    }
  });

  it('line items: the cursor of another session is 404', async () => {
    for (const { api, session, paidSession, lineItem } of owners) {
      await api.get(`${SESSIONS}/${session}/line_items?starting_after=${lineItem}`).expect(200);
      for (const param of ['starting_after', 'ending_before']) {
        assertMissing(await api.get(`${SESSIONS}/${paidSession}/line_items?${param}=${lineItem}`), param);
      }
    }
  });

  it('and told that an id exists in the other mode, if it is an id of its account', async () => {
    for (const owner of owners) {
      for (const other of owners.filter(({ account }) => account !== owner.account)) {
        const nobodys = newId(sessionPrefix(owner.livemode));
        const messages = [];
        for (const id of [owner.session, nobodys]) {
          const { body } = await other.api.get(`${SESSIONS}/${id}`).expect(404);
          messages.push(body.error.message.replace(id, '…'));
        }
        assert.equal(messages[0], messages[1]);
      }
    }
  });
});
