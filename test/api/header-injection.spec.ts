import assert from 'node:assert/strict';
import { answers } from '../../lab/world/facilitator/dial.js';
import type { TestApp } from '../support/app.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { SESSIONS } from '../support/orders.js';
import { exchange } from '../support/wire.js';

describe('header injection', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));
  let app: TestApp;
  let key: string;
  before(async () => {
    app = checkout.app;
    key = checkout.merchant.testKey;
  });

  const close = 'Host: localhost\r\nConnection: close\r\n';
  const headOf = (answer: string): string => answer.split('\r\n\r\n', 1)[0] ?? '';
  const bodyOf = (answer: string): string => answer.slice(headOf(answer).length + 4);

  function assertNothingInjected(answer: string): void {
    assert.match(answer, /^HTTP\/1\.1 \d{3} /);
    assert.doesNotMatch(answer, /^HTTP\/1\.1 500/);
    assert.doesNotMatch(headOf(answer), /injected/i);
    assert.equal(answer.match(/^HTTP\/1\.1 /gm)?.length, 1, answer);
  }

  const LINE = 'a%0d%0aInjected:%20yes%0d%0a%0d%0aHTTP/1.1%20200%20OK';

  for (const target of [
    `/c/${LINE}`,
    `/c/cs_test_1?x=${LINE}`,
    `/v1/${LINE}`,
    `/mcp/${LINE}`,
    `/mcp?${LINE}`,
    `${SESSIONS}/${LINE}`,
    `${SESSIONS}?starting_after=${LINE}`,
    `${SESSIONS}?${LINE}=1`,
    `/${LINE}`,
    `//evil.example/${LINE}`,
    `/healthz?${LINE}`,
  ]) {
    it(`${target.replace(LINE, '…')}: an encoded line break adds no header`, async () => {
      for (const accept of ['*/*', 'text/html']) {
        const answer = await exchange(
          app.port,
          `GET ${target} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nAccept: ${accept}\r\n${close}\r\n`,
        );
        assertNothingInjected(answer);
      }
    });
  }

  const broken: [what: string, header: string][] = [
    ['a folded header', 'X-One: a\r\n Injected: yes'],
    ['a bare line feed', 'X-One: a\nInjected: yes'],
    ['a bare carriage return', 'X-One: a\rInjected: yes'],
    ['U+0000', 'X-One: a\0Injected: yes'],
    ['a space before the colon', 'Injected : yes'],
    ['a header without a colon', 'Injected'],
    ['a header without a name', ': injected'],
    ['a control character in a name', 'X\x01Injected: yes'],
  ];
  for (const [what, header] of broken) {
    it(`${what} is refused by the HTTP parser`, async () => {
      const answer = await exchange(
        app.port,
        `GET ${SESSIONS} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n${header}\r\n${close}\r\n`,
      );
      assertNothingInjected(answer);
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n.*"code":"malformed_request"/s);
    });
  }

  it('repeats no client input in a header', async () => {
    const names = 'Request-Id X-Request-Id Idempotency-Key Origin Referer User-Agent Cookie'.split(' ');
    const sent = names.map((name) => `${name}: injected-${name}\r\n`).join('');
    for (const target of [SESSIONS, '/c/cs_test_1', '/nothing', '/healthz', '/openapi.json']) {
      assertNothingInjected(
        await exchange(
          app.port,
          `GET ${target} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n${sent}${close}\r\n`,
        ),
      );
      assertNothingInjected(await exchange(app.port, `OPTIONS ${target} HTTP/1.1\r\n${sent}${close}\r\n`));
    }
  });

  it('repeats the texts of a facilitator in base64 only', async () => {
    const { id } = await checkout.buildSession();
    const { header } = await checkout.sign(id);
    const reason = 'x\r\nInjected: yes\r\n\r\n<script>';
    checkout.facilitator.verify.next(
      answers(200, { isValid: false, invalidReason: reason, payer: reason, network: reason }),
    );
    const answer = await exchange(
      app.port,
      `GET /c/${id} HTTP/1.1\r\nPAYMENT-SIGNATURE: ${header}\r\n${close}\r\n`,
    );
    assertNothingInjected(answer);
    assert.match(answer, /^HTTP\/1\.1 402 /);
    assert.equal(JSON.parse(bodyOf(answer)).code, 'payment_failed');
  });
});
