import { Type } from 'typebox';
import { ListParameters } from '../../input/list-query.js';
import { strictObject } from '../../input/strict-object.js';

export const CreateKey = strictObject({
  livemode: Type.Optional(Type.Boolean({ description: 'false makes a test key. Default true.' })),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'Default "Agent key".' })),
});

export const ListKeys = strictObject(ListParameters);
