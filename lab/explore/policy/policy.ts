import { afterCall, beforeCall, mayStillCall } from '../../../shared/settlement/policy/after-call.js';
import { afterLook } from '../../../shared/settlement/policy/after-look.js';
import { byOperator } from '../../../shared/settlement/policy/by-operator.js';
import { afterFailure, afterSuccess } from '../../../shared/settlement/policy/session-after.js';

/** The policy as those see it who ask it. A mistake is put around one of them. */
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
