import assert from 'node:assert/strict';
import { formatText } from '../../../cli/format-text.js';

describe('an answer of the merchants commands as text', () => {
  it('has a line for each value, with dots between nested names', () => {
    const answer = { id: 'acct_1', payout_wallets: { evm: '0x1', solana: null } };
    assert.equal(formatText(answer), 'id: acct_1\npayout_wallets.evm: 0x1\npayout_wallets.solana: –\n');
  });

  it('has a blank line before each object of a list', () => {
    assert.equal(
      formatText({ accounts: [{ id: 'acct_1' }, { id: 'acct_2' }] }),
      '\nid: acct_1\n\nid: acct_2\n',
    );
  });

  it('says of an empty list that it has nothing', () => {
    assert.equal(formatText({ payments: [] }), 'payments: none\n');
    assert.equal(formatText({ archived: [], kept: [] }), 'archived: none\nkept: none\n');
  });

  it('has a list of values on one line, with its name', () => {
    const answer = {
      url: 'https://a.example',
      enabled_events: ['refund.created', 'refund.updated'],
      status: 'enabled',
    };
    assert.equal(
      formatText({ endpoints: [answer] }),
      '\nurl: https://a.example\nenabled_events: refund.created, refund.updated\nstatus: enabled\n',
    );
  });
});
