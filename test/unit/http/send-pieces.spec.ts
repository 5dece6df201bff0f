import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import express from 'express';
import request from 'supertest';
import { sendPieces } from '../../../api/http/send-json.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { Busy } from '../../../shared/db/busy.js';
import { PIECE_TAKEN_WITHIN_MS } from '../../../shared/limits/bounds.js';

const PIECE = 'x'.repeat(64 * 1024);
/** Far more than the buffers of two sockets on one machine hold. */
const MANY = 4000;
const SHORT_MS = 200;
const LONG_MS = 60_000;

/** A text of many pieces, and how many were requested. */
class Pieces {
  given = 0;
  isOver = false;
  readonly count: number;
  failsAt: number;
  failure: Error;
  onGiven: () => void;

  constructor(
    count: number,
    failsAt = Number.POSITIVE_INFINITY,
    failure = new Error('a mistake'),
    onGiven: () => void = () => undefined,
  ) {
    this.count = count;
    this.failsAt = failsAt;
    this.failure = failure;
    this.onGiven = onGiven;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      while (this.given < this.count) {
        if (this.given === this.failsAt) throw this.failure;
        this.given += 1;
        this.onGiven();
        yield PIECE;
      }
    } finally {
      this.isOver = true;
    }
  }
}

describe('an answer in pieces', () => {
  let server: Server;
  let pieces: Pieces;
  let takenWithinMs: number | undefined;
  const logged: unknown[] = [];
  const note = (line: unknown): number => logged.push(line);
  before(async () => {
    const app = express();
    app.use((req, res, next) => {
      Object.assign(req, { log: { error: note, warn: note } });
      sendPieces(res, pieces, takenWithinMs).catch(next);
    });
    app.use(((_error, _req, res, _next) => {
      res.sendStatus(500);
    }) satisfies express.ErrorRequestHandler);
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    logged.length = 0;
    takenWithinMs = LONG_MS;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function ask(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    return socket;
  }

  /** Waits until no more pieces are requested. */
  async function untilItWaits(): Promise<number> {
    for (let before = -1; ; ) {
      await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
      if (pieces.given === before && before > 0) return before;
      before = pieces.given;
    }
  }

  it('arrives whole, without a Content-Length', async () => {
    pieces = new Pieces(100);
    const res = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    assert.match(res.headers.get('Content-Type') ?? '', /^application\/json/);
    assert.equal(res.headers.get('Content-Length'), null);
    assert.equal(await res.text(), PIECE.repeat(100));
  });

  it('has no two pieces in one turn of the event loop, though the client takes each at once', async () => {
    let turn = 0;
    const count = (): void => {
      turn += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const turns: number[] = [];
    pieces = new Pieces(50, undefined, undefined, () => turns.push(turn));
    const res = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    assert.equal(await res.text(), PIECE.repeat(50));
    clearImmediate(next);
    assert.equal(new Set(turns).size, 50, turns.join());
  });

  it('has a head and no body for HEAD, and reads one piece only', async () => {
    pieces = new Pieces(MANY);
    await request(server)
      .head('/')
      .expect(200)
      .expect('Content-Type', /^application\/json/);
    assert.deepEqual([pieces.given, pieces.isOver], [1, true]);
  });

  it('waits for a client that does not read, and continues when it does', async () => {
    pieces = new Pieces(MANY);
    const socket = await ask();
    assert.ok((await untilItWaits()) < MANY / 4);
    socket.resume();
    await eventually(() => assert.equal(pieces.given, MANY));
    socket.destroy();
  });

  it('is cut off when the client takes nothing', async () => {
    pieces = new Pieces(MANY);
    takenWithinMs = SHORT_MS;
    const socket = await ask();
    await eventually(() => assert.ok(pieces.isOver));
    assert.ok(pieces.given < MANY / 4);
    assert.doesNotMatch((await text(socket)).slice(-10), /\r\n0\r\n/);
    assert.deepEqual(logged, []);
  });

  it('is cut off after a time of its own where none is given', async () => {
    pieces = new Pieces(MANY);
    takenWithinMs = undefined;
    const inTime = mock.method(globalThis, 'setTimeout');
    const socket = await ask();
    await untilItWaits();
    const limits = inTime.mock.calls.filter(({ arguments: [, ms] }) => ms === PIECE_TAKEN_WITHIN_MS);
    inTime.mock.restore();
    limits.at(-1)?.arguments[0]();
    await eventually(() => assert.ok(pieces.isOver));
    socket.destroy();
  });

  for (const how of ['destroy', 'resetAndDestroy'] as const) {
    it(`ends with its client: ${how}`, async () => {
      pieces = new Pieces(MANY);
      const socket = await ask();
      await untilItWaits();
      socket[how]();
      await eventually(() => assert.ok(pieces.isOver));
      assert.ok(pieces.given < MANY / 4);
      assert.deepEqual(logged, []);
    });
  }

  it('that fails before its first byte is an ordinary error', async () => {
    pieces = new Pieces(MANY, 0);
    await request(server).get('/').expect(500);
  });

  for (const [event, failure] of [
    ['request.failed', new Error('a mistake')],
    ['request.busy', new Busy('connections')],
  ] as const)
    it(`that fails later arrives incomplete, and is logged once, as ${event}`, async () => {
      pieces = new Pieces(MANY, 3, failure);
      await assert.rejects(request(server).get('/').then(), /aborted|socket hang up|ECONNRESET/);
      assert.equal(logged.length, 1);
      assert.match(JSON.stringify(logged), new RegExp(`"event":"${event}"`));
    });
});
