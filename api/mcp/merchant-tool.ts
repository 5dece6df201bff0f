import type { ObjectSchema } from '../openapi/describe-operation.js';
import type { MerchantOperations } from '../v1/routes/merchant-operations.js';

/** An MCP tool in words. Its route and its parameters are those of its operation under /v1. */
export interface DescribedTool {
  name: string;
  title: string;
  /** The tool's effect, its result and the next step: all that an agent knows about it. */
  description: string;
  operation: keyof MerchantOperations;
  effect: Effect;
}

/** A /v1 operation as an MCP tool. */
export interface MerchantTool extends DescribedTool {
  /** Such as `POST`. */
  method: string;
  /** Path below /v1. */
  path: string;
  /** Description of the id in the path. */
  id: string | undefined;
  /** The schema of the query or body. */
  parameters: ObjectSchema | undefined;
}

/** `adds`: each call adds something. `changes`: a repeated call changes nothing more. */
type Effect = 'reads' | 'adds' | 'changes';

/** Last sentence of the description of each list. */
export const NEXT_PAGE =
  'When `has_more` is true, call again with `starting_after` set to the id of the last one in `data`.';
