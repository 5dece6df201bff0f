/** The part of JSON Schema that this API's inputs are written in. */
export interface SchemaNode {
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'null';
  properties?: Record<string, SchemaNode>;
  required?: readonly string[];
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  maxItems?: number;
  maxProperties?: number;
  anyOf?: readonly SchemaNode[];
  /** Whether an enum is compared in lower case, as Stripe does with currencies. */
  lowerCase?: boolean;
}
