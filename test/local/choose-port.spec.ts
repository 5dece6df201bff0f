import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { choosePort, describeChoice, requireFreePort } from '../../local/toolchain/choose-port.js';

describe('the port of npm start', () => {
  it('is never replaced when it was configured', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, resolve));
    const { port } = other.address() as AddressInfo;
    await assert.rejects(requireFreePort(port), {
      message: `PORT is ${port}, and that is taken: stop what listens there, or set another PORT.`,
    });
    await new Promise((resolve) => other.close(resolve));
    await (await requireFreePort(port)).release();
  });

  it('is any free one when it was configured as 0', async () => {
    const held = await requireFreePort(0);
    assert.ok(held.port > 0);
    await assert.rejects(requireFreePort(held.port), /is taken/);
    await held.release();
  });

  it('is held from the choice on: a start at the same time takes another one', async () => {
    const [first, second] = await Promise.all([choosePort(), choosePort()]);
    assert.notEqual(first.port, second.port);
    await assert.rejects(requireFreePort(first.port), /is taken/);
    await first.release();
    await first.release();
    await (await requireFreePort(first.port)).release();
    await second.release();
  });

  it('is reported when it is not the usual one', () => {
    assert.deepEqual(describeChoice(3000), []);
    assert.deepEqual(describeChoice(3002), ['Port 3000 is taken: this one listens on 3002.']);
  });
});
