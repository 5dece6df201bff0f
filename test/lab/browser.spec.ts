import assert from 'node:assert/strict';
import { serveLocally } from '../../lab/world/http/listen.js';
import { openBrowser } from '../support/page/shop.js';

const REMEMBER = `(async () => {
  document.cookie = 'seen=yes; max-age=600';
  localStorage.setItem('seen', 'yes');
  sessionStorage.setItem('seen', 'yes');
  await new Promise((done) => { indexedDB.open('seen').onsuccess = done; });
})()`;
const REMEMBERED = `(async () => [document.cookie, localStorage.length, sessionStorage.length,
  (await indexedDB.databases()).length, navigator.onLine])()`;

describe('the browser of the tests', () => {
  it('opens each page without what an earlier page in the same context has stored', async () => {
    const server = await serveLocally((_, response) => {
      response.setHeader('content-type', 'text/html').end('<link rel="icon" href="data:,">');
    });
    const browser = await openBrowser();
    const first = await browser.open();
    await first.page.goto(server.url);
    await first.page.evaluate(REMEMBER);
    await first.page.context().setOffline(true);
    assert.deepEqual(await first.page.evaluate(REMEMBERED), ['seen=yes', 1, 1, 1, false]);
    await first.close();
    const second = await browser.open();
    assert.equal(second.page.context(), first.page.context());
    await second.page.goto(server.url);
    assert.deepEqual(await second.page.evaluate(REMEMBERED), ['', 0, 0, 0, true]);
    await browser.close();
    await server.close();
  });

  it('opens no page in a context whose clock an earlier page has set', async () => {
    const browser = await openBrowser();
    const first = await browser.open();
    await first.page.clock.install();
    await first.page.clock.pauseAt(Date.now() + 60_000);
    await first.close();
    const second = await browser.open();
    assert.ok(Number(await second.page.evaluate('Date.now()')) < Date.now() + 30_000);
    await browser.close();
  });
});
