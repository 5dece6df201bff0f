import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, platform } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { answer, hang, type Receiver, startReceiver } from '../../lab/world/receiver/receiver.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { RECEIVER_BODY_WITHIN_MS, RECEIVER_HEADERS_WITHIN_MS } from '../../shared/limits/bounds.js';
import { LEASE_MS } from '../../shared/webhooks/take-due.js';
import { openSenderThread, STUCK_AFTER_MS } from '../../workers/webhook-delivery/open-sender-thread.js';
import type { Sender, Sent } from '../../workers/webhook-delivery/sender.js';

/** Longer than a thread takes to load on a busy machine. */
const LOADED_WITHIN_MS = 4000;
/** A thread that obeys the path of the URL, and otherwise answers 200. */
const UNRELIABLE = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', (batch) => {
    for (const { number, webhook: { url } } of batch) {
      if (url.endsWith('/throw')) throw new Error('thrown in the thread');
      if (url.endsWith('/exit')) process.exit(0);
      // Endless, and without taking the processor from other specs.
      if (url.endsWith('/loop')) for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      if (url.endsWith('/fill')) for (const all = []; ; ) all.push(new Array(1e5).fill(url));
      if (url.endsWith('/wait')) continue;
      const result = { kind: 'answered', status: 200, answer: '' };
      parentPort.postMessage([{ number, sent: { result, durationMs: 1 } }]);
    }
  });
`)}`,
);

/** The place of a thread's niceness behind its name in `/proc/…/stat`. */
const NICE = 16;

const threadFile = (): URL =>
  pathToFileURL(path.join(projectRoot(), 'dist', 'workers', 'webhook-delivery', 'sender-thread.js'));

describe('the time after which the thread that sends webhooks is ended', () => {
  it('is longer than any try, and shorter than the leases of its webhooks', () => {
    assert.ok(STUCK_AFTER_MS > RECEIVER_HEADERS_WITHIN_MS + RECEIVER_BODY_WITHIN_MS + 10_000);
    assert.ok(STUCK_AFTER_MS < LEASE_MS - 10_000);
  });
});

describe('the thread that sends webhooks', () => {
  let sender: Sender;
  afterEach(() => sender.close());

  const send = (url: string, body: Uint8Array = Buffer.from('{"a":1}')): Promise<Sent> =>
    sender.send({
      accountId: 'acct_1',
      endpointId: 'we_1',
      url,
      headers: { 'content-type': 'application/json' },
      body,
    });

  describe('of the build', () => {
    let receiver: Receiver;
    before(() => ensureBuilt(projectRoot()));
    beforeEach(async () => {
      receiver = await startReceiver();
      sender = openSenderThread(threadFile(), { allowPrivateNetworks: true });
    });
    afterEach(() => receiver.close());

    it('sends the given bytes and headers, and returns the answer', async () => {
      receiver.react(answer(410, 'gone'));
      const { result, durationMs } = await send(receiver.url);
      assert.deepEqual(result, { kind: 'answered', status: 410, answer: 'gone' });
      assert.ok(Number.isInteger(durationMs));
      const [got] = receiver.got;
      assert.deepEqual([got?.raw, got?.headers['content-type']], ['{"a":1}', 'application/json']);
    });

    it('is handed large bodies without a copy, and copies of small ones', async () => {
      receiver.react(answer(200));
      const texts = ['x'.repeat(2 * 1024 * 1024), ...Array.from({ length: 50 }, (_, n) => `small ${n}`)];
      const bodies = texts.map((text) => Buffer.from(text));
      await Promise.all(bodies.map((body) => send(receiver.url, body)));
      assert.deepEqual(receiver.got.map(({ raw }) => raw).sort(), texts.sort());
      const [large, ...small] = bodies;
      assert.equal(large?.byteLength, 0, 'this thread holds the large body, too');
      assert.ok(small.every((body) => body.toString().startsWith('small')));
    });

    it('returns a try that failed as such', async () => {
      const { url } = receiver;
      await receiver.close();
      assert.deepEqual((await send(url)).result, { kind: 'unanswered', error: 'ECONNREFUSED' });
    });

    it('does not send to private networks unless it may', async () => {
      await sender.close();
      sender = openSenderThread(threadFile(), { allowPrivateNetworks: false });
      assert.deepEqual((await send(receiver.url)).result, { kind: 'unanswered', error: 'ENOTPUBLIC' });
      assert.equal(receiver.got.length, 0);
    });

    it('lets other threads go first when its priority is low, on Linux', async () => {
      if (platform() !== 'linux') return;
      const niceness = (): number[] =>
        readdirSync('/proc/self/task').map((thread) => {
          const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
          return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[NICE]);
        });
      const own = getPriority();
      await send(receiver.url);
      assert.ok(niceness().every((nice) => nice === own));
      await sender.close();
      sender = openSenderThread(threadFile(), { allowPrivateNetworks: true, priority: 'low' });
      await send(receiver.url);
      assert.deepEqual(
        niceness().filter((nice) => nice !== own),
        [own + 5],
      );
    });

    it('ends with its connections when it is closed', async () => {
      receiver.react(hang);
      const sending = send(receiver.url);
      sending.catch(() => undefined);
      await sender.close();
      await assert.rejects(sending, /has ended/);
    });
  });

  for (const [name, fault, error, stuckAfterMs] of [
    ['throws', 'throw', /thrown in the thread/, undefined],
    ['exits', 'exit', /has ended/, undefined],
    ['is in an endless loop', 'loop', /has ended/, LOADED_WITHIN_MS],
    ['fills its memory', 'fill', /memory/, undefined],
    ['never answers', 'wait', /has ended/, LOADED_WITHIN_MS],
  ] as const) {
    it(`that ${name} leaves the outcome of what it has unknown, and another takes its place`, async () => {
      sender = openSenderThread(UNRELIABLE, { allowPrivateNetworks: true }, stuckAfterMs);
      const ofBoth = await Promise.allSettled([send('http://x/wait'), send(`http://x/${fault}`)]);
      for (const one of ofBoth) {
        assert.equal(one.status, 'rejected');
        assert.match(String(one.reason), error);
      }
      assert.equal((await send('http://x/')).result.kind, 'answered');
    });
  }

  it('that cannot start fails what is sent by it', async () => {
    sender = openSenderThread(new URL('data:text/javascript,throw Error("no start")'), {
      allowPrivateNetworks: true,
    });
    await assert.rejects(send('http://x/'), /no start/);
    await assert.rejects(send('http://x/'), /no start/);
  });
});
