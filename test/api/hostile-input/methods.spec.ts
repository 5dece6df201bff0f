import assert from 'node:assert/strict';
import { forAllTests } from '../../support/hooks.js';
import { assertError, assertFine } from '../../support/hostile-input/assert-answers.js';
import { openHostileClient } from '../../support/hostile-input/client.js';
import { KEYS } from '../../support/hostile-input/order.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as a method', () => {
    const routes: [path: string, allow: string][] = [
      [SESSIONS, 'GET, HEAD, POST'],
      [`${SESSIONS}/cs_test_x`, 'GET, HEAD'],
      [`${SESSIONS}/cs_test_x/expire`, 'POST'],
      [`${SESSIONS}/cs_test_x/line_items`, 'GET, HEAD'],
      [PAYMENTS, 'GET, HEAD'],
      [ENDPOINTS, 'GET, HEAD, POST'],
      [`${ENDPOINTS}/we_x`, 'GET, HEAD, POST, DELETE'],
      [`${PAYMENTS}/pay_x`, 'GET, HEAD'],
      ['/v1/refunds', 'GET, HEAD, POST'],
      ['/v1/refunds/re_x', 'GET, HEAD'],
      ['/v1/refunds/re_x/cancel', 'POST'],
      ['/v1/reports/daily', 'GET, HEAD'],
      ['/v1/events', 'GET, HEAD'],
      ['/v1/events/evt_x', 'GET, HEAD'],
      ['/v1/events/evt_x/resend', 'POST'],
      [`${ENDPOINTS}/we_x/deliveries`, 'GET, HEAD'],
      [`${ENDPOINTS}/we_x/roll_secret`, 'POST'],
      [KEYS, 'GET, HEAD, POST'],
      [`${KEYS}/key_x`, 'DELETE'],
    ];
    const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PURGE LOCK M-SEARCH'.split(' ');
    for (const [path, allow] of routes) {
      const others = methods.filter((method) => !allow.split(', ').includes(method));
      it(`is 405 with Allow with a key, and 401 without one: ${others.join(', ')} on ${path}`, async () => {
        for (const method of others) {
          const bare = await web.send({ method, path, key: undefined });
          assert.equal(bare.status, 401, `${method} without a key: ${bare.text}`);
          const answer = await web.send({ method, path });
          assert.equal(answer.status, 405, `${method}: ${answer.text}`);
          assert.equal(answer.headers.allow, allow);
          assert.match(String(answer.headers['request-id']), /^req_/);
          if (method === 'HEAD') assert.equal(answer.text, '');
          else assertError(answer, 405, 'method_not_allowed');
        }
      });
    }

    it('gets the headers of GET without a body as HEAD, also when it is refused', async () => {
      for (const path of [SESSIONS, `${SESSIONS}/cs_test_x`, `${SESSIONS}?limit=0`, '/v1/nothing']) {
        const [get, headOnly] = [await web.send({ path }), await web.send({ path, method: 'HEAD' })];
        assert.equal(headOnly.status, get.status);
        assert.equal(headOnly.text, '');
        const { date: _d, 'request-id': _r, 'content-length': _l, ...shown } = get.headers;
        const { date: _d2, 'request-id': _r2, 'content-length': length, ...shownHead } = headOnly.headers;
        assert.deepEqual(shownHead, shown);
        assert.ok(Number(length) > 0);
      }
    });

    it('ends the connection as CONNECT or an invalid method', async () => {
      for (const line of [
        'CONNECT pay.example:443',
        `FOO ${SESSIONS}`,
        `get ${SESSIONS}`,
        `GET${SESSIONS}`,
        'GET',
        '\0',
      ]) {
        const answer = await web.exchange(web.head(line), { end: true });
        assert.match(answer, /^(HTTP\/1\.1 400 Bad Request\r\n.*)?$/s, line);
      }
      assertFine(await web.send({}));
    });
  });
});
