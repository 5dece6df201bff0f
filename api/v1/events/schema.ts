import { Type } from 'typebox';
import { EVENT_TYPES } from '../../../shared/webhooks/event-types.js';
import { CreatedFilter } from '../../input/created-filter.js';
import { ListParameters } from '../../input/list-query.js';
import { strictObject } from '../../input/strict-object.js';

export const ListEvents = strictObject({
  ...ListParameters,
  type: Type.Optional(Type.Enum([...EVENT_TYPES])),
  created: CreatedFilter,
  checkout_session: Type.Optional(
    Type.String({
      description: 'Those of this session and of the refunds of its payments, by the id of the session.',
    }),
  ),
});

export const ResendEvent = strictObject({
  webhook_endpoint: Type.Optional(
    Type.String({
      description: 'The id of the endpoint. Default every enabled one that wants events of this type now.',
    }),
  ),
});
