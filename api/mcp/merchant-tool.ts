import type { TSchema } from 'typebox';
import type { MerchantOperations } from '../v1/routes/merchant-operations.js';

/** An operation of /v1 as a tool. */
export interface MerchantTool {
  name: string;
  title: string;
  /** What it does, what comes back, and what to do next: all that an agent knows of it. */
  description: string;
  operation: keyof MerchantOperations;
  method: 'GET' | 'POST' | 'DELETE';
  /** Below /v1. */
  path: string;
  /** What the id in the path is. */
  id?: string;
  /** The schema that the operation validates its query or its body by. */
  parameters?: ParameterSchema;
  effect: Effect;
}

interface ParameterSchema extends TSchema {
  properties: Record<string, TSchema>;
  required?: readonly string[] | undefined;
}

/** Reads; adds something with each call; changes or ends what is there, where a second call changes nothing more. */
type Effect = 'reads' | 'adds' | 'changes';

/** What every list's description ends with. */
export const NEXT_PAGE =
  'When `has_more` is true, call again with `starting_after` set to the id of the last one in `data`.';
