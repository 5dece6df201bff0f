import assert from 'node:assert/strict';
import { dashboardAddress, welcome } from '../../local/demo/welcome.js';

const KEY = 'svc_ck_test_abc';

describe('the welcome of npm start', () => {
  it("signs in to the sandbox's dashboard by its address", () => {
    const base = 'http://localhost:3000';
    assert.equal(dashboardAddress(base, KEY), `${base}/dashboard#sign-in=${KEY}`);
    assert.equal(dashboardAddress(base, undefined), `${base}/dashboard`);
  });

  it('names the dashboard unless it is turned off', () => {
    const baseUrl = 'http://localhost:3000';
    const shown = { baseUrl, key: KEY, link: undefined, printsWebhooks: false, phones: undefined };
    assert.match(
      welcome({ ...shown, dashboard: 'http://localhost:3000/dashboard' }),
      /Dashboard {7}http:\/\/localhost:3000\/dashboard\n/,
    );
    assert.doesNotMatch(welcome({ ...shown, dashboard: undefined }), /Dashboard|Phones/);
  });

  it('tells how phones open QR codes', () => {
    const shown = { baseUrl: 'http://localhost:3000', key: KEY, link: undefined, printsWebhooks: false };
    const phones = 'QR codes open http://192.168.1.20:3000';
    assert.match(welcome({ ...shown, dashboard: undefined, phones }), /Phones {10}QR codes open http:\S+\n/);
  });
});
