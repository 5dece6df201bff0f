import { afterCall } from '../../../../shared/settlement/policy/after-call.js';
import { afterLook } from '../../../../shared/settlement/policy/after-look.js';
import { beforeCall, mayStillCall } from '../../../../shared/settlement/policy/before-call.js';
import { byOperator } from '../../../../shared/settlement/policy/by-operator.js';
import { afterFailure, afterSuccess } from '../../../../shared/settlement/policy/session-after.js';

/** The functions of the policy. A mutant wraps one of them. */
export const POLICY = {
  beforeCall,
  mayStillCall,
  afterCall,
  afterLook,
  byOperator,
  afterSuccess,
  afterFailure,
};

export type Policy = typeof POLICY;
