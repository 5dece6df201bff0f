import { afterCall } from '../../../../shared/settlement/policy/after-call.js';
import { afterCheck } from '../../../../shared/settlement/policy/after-check.js';
import { beforeCall, mayStillCall } from '../../../../shared/settlement/policy/before-call.js';
import { byOperator } from '../../../../shared/settlement/policy/by-operator.js';
import { afterFailure, afterSuccess } from '../../../../shared/settlement/policy/session-after.js';

/** The functions of the policy. A mutant wraps one of them. */
export const POLICY = {
  beforeCall,
  mayStillCall,
  afterCall,
  afterCheck,
  byOperator,
  afterSuccess,
  afterFailure,
};

export type Policy = typeof POLICY;
