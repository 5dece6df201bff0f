import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describeChoice, requireFreePort } from '../../local/toolchain/choose-port.js';

describe('the port of npm start', () => {
  it('is never replaced when it was configured', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, resolve));
    const { port } = other.address() as AddressInfo;
    await assert.rejects(requireFreePort(port), {
      message: `PORT is ${port}, and that is taken: stop what listens there, or set another PORT.`,
    });
    await new Promise((resolve) => other.close(resolve));
    await requireFreePort(port);
  });

  it('is reported when it is not the usual one', () => {
    assert.deepEqual(describeChoice(3000), []);
    assert.deepEqual(describeChoice(3002), ['Port 3000 is taken: this one listens on 3002.']);
  });
});
