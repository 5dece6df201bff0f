import assert from 'node:assert/strict';
import { dashboardAddress, welcome } from '../../local/demo/welcome.js';

const KEY = 'svc_ck_test_abc';

describe('the welcome of npm start', () => {
  it("signs in to the sandbox's dashboard by its address, on this machine only", () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      assert.equal(
        dashboardAddress(`http://${host}:3000`, KEY),
        `http://${host}:3000/dashboard#sign-in=${KEY}`,
      );
    assert.equal(dashboardAddress('https://pay.example', KEY), 'https://pay.example/dashboard');
    assert.equal(dashboardAddress('http://localhost:3000', undefined), 'http://localhost:3000/dashboard');
  });

  it('names the dashboard unless it is turned off', () => {
    const shown = { baseUrl: 'http://localhost:3000', key: KEY, link: undefined, printsWebhooks: false };
    assert.match(
      welcome({ ...shown, dashboard: 'http://localhost:3000/dashboard' }),
      /Dashboard {7}http:\/\/localhost:3000\/dashboard\n/,
    );
    assert.doesNotMatch(welcome({ ...shown, dashboard: undefined }), /Dashboard/);
  });
});
