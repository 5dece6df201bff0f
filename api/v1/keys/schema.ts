import { Type } from 'typebox';
import { ListParameters } from '../../input/list-query.js';

export const CreateKey = Type.Object(
  {
    livemode: Type.Optional(Type.Boolean({ description: 'false makes a test key. Default true.' })),
    name: Type.Optional(Type.String({ maxLength: 100, description: 'Default "Agent key".' })),
  },
  { additionalProperties: false },
);

export const ListKeys = Type.Object(ListParameters, { additionalProperties: false });
