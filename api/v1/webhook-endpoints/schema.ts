import { Type } from 'typebox';
import { SUBSCRIBABLE_EVENTS } from '../../../shared/webhooks/event-types.js';
import { DELIVERY_STATUSES } from '../../../shared/webhooks/states.js';
import { ListParameters } from '../../input/list-query.js';
import { strictObject } from '../../input/strict-object.js';

const Url = Type.String({
  maxLength: 2048,
  format: 'webhook-url',
  description: 'Where events are sent. https in live mode, also http in test mode; it must be public.',
});
const EnabledEvents = Type.Array(Type.Enum([...SUBSCRIBABLE_EVENTS]), {
  description: 'Which events to send. Default ["*"], all of them.',
});
export const LONGEST_OVERLAP_SECONDS = 86_400;

const Description = Type.String({ maxLength: 500 });

/** On an update, an empty value clears the field. */
const clearable = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

export const CreateWebhookEndpoint = strictObject({
  url: Url,
  enabled_events: Type.Optional(EnabledEvents),
  description: Type.Optional(Description),
});

export const UpdateWebhookEndpoint = strictObject({
  url: clearable(Url),
  enabled_events: clearable(EnabledEvents),
  description: clearable(Description),
  disabled: Type.Optional(Type.Boolean({ description: 'true holds deliveries back, false resumes them.' })),
});

export const ListWebhookEndpoints = strictObject(ListParameters);

export const RollWebhookSecret = strictObject({
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LONGEST_OVERLAP_SECONDS,
      description:
        'For so many seconds the secret before signs too, beside the new one. Default 86400, a day.',
    }),
  ),
});

export const ListDeliveries = strictObject({
  ...ListParameters,
  status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
});
