import { Type } from 'typebox';

export const CreateKey = Type.Object(
  {
    livemode: Type.Optional(Type.Boolean({ description: 'false makes a test key. Default true.' })),
    name: Type.Optional(Type.String({ maxLength: 100, description: 'Default "Agent key".' })),
  },
  { additionalProperties: false },
);
