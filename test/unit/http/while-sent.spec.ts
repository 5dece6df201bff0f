import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { releaseWhenSent } from '../../../api/http/release-when-sent.js';
import { SENT_WITHIN_MS } from '../../../shared/limits/bounds.js';

describe('a budget that an answer holds while it is sent', () => {
  it('is released when the answer is closed, also when it was closed before', () => {
    let released = 0;
    const answer = (closed: boolean) =>
      Object.assign(new EventEmitter(), {
        closed,
        destroy: () => {},
        req: { socket: new EventEmitter() },
      }) as unknown as ServerResponse;
    const open = answer(false);
    releaseWhenSent(open, () => (released += 1));
    assert.equal(released, 0);
    open.emit('close');
    assert.equal(released, 1);
    releaseWhenSent(answer(true), () => (released += 1));
    assert.equal(released, 2);
  });
  it('is released when the client has not taken the answer in time', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let released = 0;
    const answer = Object.assign(new EventEmitter(), {
      closed: false,
      destroy: () => answer.emit('close'),
      req: { socket: new EventEmitter() },
    });
    releaseWhenSent(answer as unknown as ServerResponse, () => (released += 1));
    mock.timers.tick(SENT_WITHIN_MS - 1);
    assert.equal(released, 0);
    mock.timers.tick(1);
    assert.equal(released, 1);
    mock.timers.reset();
  });
});
