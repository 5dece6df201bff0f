import assert from 'node:assert/strict';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import type { VerifyVerdict } from '../../../shared/x402/facilitator/facilitator-answers.js';
import { openUnavailableFacilitators } from '../../../shared/x402/facilitator/unavailable-facilitators.js';
import { verifyInTurn } from '../../../shared/x402/facilitator/verify-in-turn.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';

const NETWORK = 'eip155:84532';
const PAYMENT = { paymentRequirements: { network: NETWORK } } as FacilitatorRequest;
const VALID: VerifyVerdict = { kind: 'valid', payer: undefined };
const REFUSED: VerifyVerdict = {
  kind: 'refused',
  code: 'insufficient_funds',
  reason: 'insufficient_funds',
  message: '',
  class: 'buyer',
  mayMeanUsed: true,
  saysUsed: false,
};
const AWAY: VerifyVerdict = { kind: 'unavailable', why: 'ECONNREFUSED' };

/** A facilitator that answers when it is told to, in the order of its calls. */
function openVerifier(name: string, ...prompt: VerifyVerdict[]) {
  const waiting: ((verdict: VerifyVerdict) => void)[] = [];
  let calls = 0;
  return {
    name,
    calls: () => calls,
    answer: (verdict: VerifyVerdict) => waiting.shift()?.(verdict),
    verify(): Promise<VerifyVerdict> {
      calls += 1;
      const verdict = prompt.shift();
      if (verdict !== undefined) return Promise.resolve(verdict);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** test/flows/facilitators/several-facilitators.spec.ts has the order in which they are asked, and silence. */
describe('/verify at several facilitators in turn', () => {
  let unavailable = openUnavailableFacilitators();
  beforeEach(() => {
    unavailable = openUnavailableFacilitators();
  });
  afterEach(() => resetClock());

  const verify = (verifiers: ReturnType<typeof openVerifier>[], withinMs = 60_000) =>
    verifyInTurn(verifiers, { payment: PAYMENT, withinMs }, { unavailable, logger: undefined });

  describe('of a payment whose fee payer', () => {
    const ANOTHERS: VerifyVerdict = {
      ...REFUSED,
      code: 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
      reason: 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
      class: 'setup',
    };

    for (const verdict of [VALID, REFUSED])
      it(`one calls another's takes the verdict of the next, and the one is not away: ${verdict.kind}`, async () => {
        const [one, two] = [openVerifier('one', ANOTHERS), openVerifier('two', verdict)];
        assert.deepEqual(await verify([one, two]), { ...verdict, facilitator: 'two' });
        assert.equal(unavailable.isUnavailable('one', NETWORK), false);
      });

    it("all call another's is refused", async () => {
      const [one, two] = [openVerifier('one', ANOTHERS), openVerifier('two', ANOTHERS)];
      assert.deepEqual(await verify([one, two]), { ...ANOTHERS, facilitator: 'one' });
    });

    it("one calls another's has no verdict while the other is away", async () => {
      for (const verifiers of [
        [openVerifier('one', ANOTHERS), openVerifier('two', AWAY)],
        [openVerifier('one', AWAY), openVerifier('two', ANOTHERS)],
      ]) {
        const { kind, facilitator } = await verify(verifiers);
        assert.deepEqual([kind, facilitator], ['unavailable', undefined]);
      }
    });
  });

  it('asks the next at once when one fails, and remembers the failure for a while', async () => {
    const [one, two] = [openVerifier('one', AWAY), openVerifier('two', REFUSED)];
    assert.deepEqual(await verify([one, two]), { ...REFUSED, facilitator: 'two' });
    assert.equal(unavailable.isUnavailable('one', NETWORK), true);
    assert.equal(unavailable.isUnavailable('one', 'eip155:8453'), false);
    advanceClock(16_000);
    assert.equal(unavailable.isUnavailable('one', NETWORK), false);
  });

  it('takes the verdict of one that was slow, when it comes before that of the next', async () => {
    const [one, two] = [openVerifier('one'), openVerifier('two')];
    const verified = verify([one, two], 4000);
    while (two.calls() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    one.answer(REFUSED);
    assert.deepEqual(await verified, { ...REFUSED, facilitator: 'one' });
    two.answer(VALID);
  });

  it('has no verdict when all fail, and says when they may be called again', async () => {
    const limited = (forMs: number): VerifyVerdict => ({ kind: 'unavailable', why: 'HTTP 429', forMs });
    const all = [openVerifier('one', limited(3000)), openVerifier('two', limited(2000))];
    assert.deepEqual(await verify(all), {
      kind: 'unavailable',
      why: 'one: HTTP 429; two: HTTP 429',
      forMs: 2000,
      facilitator: undefined,
    });
  });

  it('gives one that was away, and may be back, less time before the next is asked', async () => {
    unavailable.note('one', NETWORK);
    advanceClock(16_000);
    const [one, two] = [openVerifier('one'), openVerifier('two', VALID)];
    assert.deepEqual(await verify([one, two]), { ...VALID, facilitator: 'two' });
    assert.equal(one.calls(), 1);
  });
});
