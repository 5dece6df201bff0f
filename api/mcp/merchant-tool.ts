import type { TSchema } from 'typebox';
import type { MerchantOperations } from '../v1/routes/merchant-operations.js';

/** A /v1 operation as an MCP tool. */
export interface MerchantTool {
  name: string;
  title: string;
  /** The tool's effect, its result and the next step: all that an agent knows about it. */
  description: string;
  operation: keyof MerchantOperations;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path below /v1. */
  path: string;
  /** Description of the id in the path. */
  id?: string;
  /** The schema of the query or body. */
  parameters?: ParameterSchema;
  effect: Effect;
}

interface ParameterSchema extends TSchema {
  properties: Record<string, TSchema>;
  required?: readonly string[] | undefined;
}

/** `adds`: each call adds something. `changes`: a repeated call changes nothing more. */
type Effect = 'reads' | 'adds' | 'changes';

/** Last sentence of the description of each list. */
export const NEXT_PAGE =
  'When `has_more` is true, call again with `starting_after` set to the id of the last one in `data`.';
