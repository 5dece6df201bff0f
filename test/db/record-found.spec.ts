import assert from 'node:assert/strict';
import { Payment } from '../../shared/payments/model.js';
import { createLogger } from '../../shared/process/logger.js';
import { type FoundPayment, recordFound, recordLate } from '../../shared/settlement/record-found.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { EVENT_DEPS } from '../support/money-flow.js';

const PROOF = { payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', proofIndex: 3 };

describe('a payment that was found on its chain', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));
  let transactions = 0;

  const newProof = () => {
    transactions += 1;
    return { ...PROOF, transaction: `0x${transactions.toString(16).padStart(64, 'f')}` };
  };
  const deps = () => ({
    ...EVENT_DEPS,
    db: checkout.app.db,
    logger: createLogger('silent', 'test'),
    notifyDecided: () => {},
  });

  async function found(payloadKey: string): Promise<FoundPayment> {
    const { id } = await checkout.buildSession();
    const { accepted, payload } = await checkout.sign(id);
    return {
      payableId: id,
      payloadKey,
      token: 'USDC',
      tokenAmount: accepted.amount,
      tokenDecimals: 6,
      network: accepted.network,
      asset: accepted.asset,
      payer: PROOF.payer,
      payTo: accepted.payTo,
      channel: 'page',
      requirements: accepted,
      payload,
      arrivedAt: new Date(),
    };
  }

  it('is recorded once for its signature, also when several find it at once', async () => {
    const one = await found('key-of-one');
    const proof = newProof();
    const recorded = await Promise.all(Array.from({ length: 5 }, () => recordFound(deps(), one, proof)));
    const kinds = recorded.map(({ kind }) => kind).sort();
    assert.deepEqual(kinds, ['recorded', 'taken', 'taken', 'taken', 'taken']);
    assert.equal((await checkout.payments(one.payableId)).length, 1);
    assert.deepEqual(await checkout.events(one.payableId), ['checkout.session.completed']);
  });

  it('is recorded for one session, also when others are locked', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => found('key-of-two')));
    const proof = newProof();
    const recorded = await Promise.all(all.map((one) => recordFound(deps(), one, proof)));
    assert.equal(recorded.filter(({ kind }) => kind === 'recorded').length, 1);
    assert.equal(await Payment.query(checkout.app.db).where({ payloadKey: 'key-of-two' }).resultSize(), 1);
  });

  it('leaves nothing behind when its transfer proves another payment', async () => {
    const proof = newProof();
    assert.equal((await recordFound(deps(), await found('key-of-three'), proof)).kind, 'recorded');
    const other = await found('key-of-four');
    assert.deepEqual(await recordFound(deps(), other, proof), { kind: 'proof_taken' });
    assert.deepEqual(await checkout.state(other.payableId), { session: 'open', payments: [], events: [] });
  });

  it('is not recorded when an archived payment has its signature', async () => {
    const one = await found('key-of-archived');
    await checkout.app.db.raw(`
      INSERT INTO payment_marks (payment_id, payable_id, payload_key, payload_released, network)
      VALUES ('pay_archived', 'cs_test_archived', 'key-of-archived', false, 'eip155:84532')`);
    const proof = newProof();
    assert.deepEqual(await recordFound(deps(), one, proof), { kind: 'taken' });
  });

  it('is not recorded for a session that is gone, nor late for a payment that did not fail', async () => {
    const one = { ...(await found('key-of-five')), payableId: 'cs_test_gone' };
    const proof = newProof();
    assert.deepEqual(await recordFound(deps(), one, proof), { kind: 'no_session' });
    assert.deepEqual(await recordLate(deps(), 'pay_gone', proof), { kind: 'taken' });
  });
});
