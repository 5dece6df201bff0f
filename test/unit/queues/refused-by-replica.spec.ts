import assert from 'node:assert/strict';
import { isRefusedByReplica } from '../../../shared/queues/connection.js';

describe('an error of Redis', () => {
  it('comes from a replica that refuses a write, also of a script, in every version', () => {
    const refusal = "READONLY You can't write against a read only replica.";
    const script = 'f_1028a5dba704e1d8a01fd96efeba25bb78f62df2';
    for (const message of [
      refusal,
      `${refusal} script: ${script}, on @user_script:4.`,
      `ERR Error running script (call to ${script}): @user_script:4: @user_script: 4: -${refusal}`,
    ])
      assert.ok(isRefusedByReplica(new Error(message)), message);
  });

  it('says something else', () => {
    for (const message of [
      "OOM command not allowed when used memory > 'maxmemory'.",
      'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
      'NOAUTH Authentication required.',
    ])
      assert.ok(!isRefusedByReplica(new Error(message)), message);
  });
});
