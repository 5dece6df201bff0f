/**
 * The fields of a checkout session that the merchant sends, that are stored, and that the API shows. Request schema, input,
 * statements, model, reads, events, presenters, OpenAPI document and erasure follow from the rows of SESSION_FIELDS.
 * CONTRIBUTING.md says how to add a row.
 */
export type SessionField = TextField | MetadataField | TimeField;

interface Row {
  /** The name on the wire and of the column of `payables`. */
  name: string;
  /** The property of the model: the name in camel case. */
  property: string;
  /** The value may hold more than a kilobyte: statements over many sessions count its bytes. */
  isLong: boolean;
}

/** A text column, null when the field was not sent. */
interface TextField extends Row {
  type: 'text';
  /** JSON Schema of the parameter. `maxLength` counts characters, of up to 4 bytes each. */
  schema: { maxLength: number; format?: 'http-url' | 'email'; description?: string };
  /** The value identifies the buyer: erasure sets it to null in every copy. The name must sort before `metadata`. */
  isPersonal: boolean;
  /** The payment link shows the value to buyers. */
  isPublic: boolean;
}

/** A json column, `{}` when the field was not sent. */
interface MetadataField extends Row {
  type: 'metadata';
}

/** A timestamptz column, Unix seconds on the wire. The service chooses the time when the field was not sent. */
interface TimeField extends Row {
  type: 'time';
  schema: { description: string };
}

/** The order of the rows is the order of the parameters in the OpenAPI document. */
export const SESSION_FIELDS = [
  {
    name: 'success_url',
    property: 'successUrl',
    type: 'text',
    schema: {
      maxLength: 5000,
      format: 'http-url',
      description: 'Where the buyer goes after paying; {CHECKOUT_SESSION_ID} in it becomes the session id.',
    },
    isLong: true,
    isPersonal: false,
    isPublic: true,
  },
  {
    name: 'cancel_url',
    property: 'cancelUrl',
    type: 'text',
    schema: {
      maxLength: 5000,
      format: 'http-url',
      description: 'Where the buyer goes to leave the page without paying.',
    },
    isLong: true,
    isPersonal: false,
    isPublic: true,
  },
  {
    name: 'client_reference_id',
    property: 'clientReferenceId',
    type: 'text',
    schema: { maxLength: 200, description: 'Your own order id.' },
    isLong: false,
    isPersonal: false,
    isPublic: false,
  },
  {
    name: 'customer_email',
    property: 'customerEmail',
    type: 'text',
    schema: { maxLength: 254, format: 'email' },
    isLong: false,
    isPersonal: true,
    isPublic: false,
  },
  { name: 'metadata', property: 'metadata', type: 'metadata', isLong: true },
  {
    name: 'expires_at',
    property: 'expiresAt',
    type: 'time',
    schema: { description: 'Unix seconds, 30 minutes to 24 hours from now. Default 24 hours from now.' },
    isLong: false,
  },
] as const satisfies readonly SessionField[];

export const TEXT_FIELDS = SESSION_FIELDS.filter((field) => field.type === 'text');
export const PERSONAL_FIELDS = TEXT_FIELDS.filter((field) => field.isPersonal);
export const PUBLIC_FIELDS = TEXT_FIELDS.filter((field) => field.isPublic);

interface ValuesOf {
  text: { sent: string; stored: string | null; shown: string | null };
  metadata: { sent: Record<string, string>; stored: Record<string, string>; shown: Record<string, string> };
  time: { sent: number; stored: Date; shown: number };
}

type FieldRow = (typeof SESSION_FIELDS)[number];
export type FieldType = FieldRow['type'];
export type TextName = (typeof TEXT_FIELDS)[number]['name'];
export type PublicName = (typeof PUBLIC_FIELDS)[number]['name'];

/** The parameters of a request. */
export type SentFields = { [Field in FieldRow as Field['name']]?: ValuesOf[Field['type']]['sent'] };
/** The properties of the model. */
export type StoredFields = { [Field in FieldRow as Field['property']]: ValuesOf[Field['type']]['stored'] };
/** The members of a session in an answer or an event. */
export type ShownFields = { [Field in FieldRow as Field['name']]: ValuesOf[Field['type']]['shown'] };

/** An object with a member for each of `fields`, under its name or its property. */
export function fieldsBy<Key extends 'name' | 'property', Field extends SessionField, T>(
  key: Key,
  fields: readonly Field[],
  member: (field: Field) => T,
): Record<Field[Key], T> {
  return Object.fromEntries(fields.map((field) => [field[key], member(field)])) as Record<Field[Key], T>;
}

const AT_THE_ENDS: Readonly<Record<string, number>> = { id: -2, object: -1, payment: 1, line_items: 2 };

/** Sorts the members of a session as the API shows them: by name, except the members in AT_THE_ENDS. */
export function inWireOrder<Members extends object>(members: Members): Members {
  const sorted = Object.entries(members).sort(
    ([a], [b]) => (AT_THE_ENDS[a] ?? 0) - (AT_THE_ENDS[b] ?? 0) || (a < b ? -1 : 1),
  );
  return Object.fromEntries(sorted) as Members;
}
