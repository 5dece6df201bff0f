import { Model } from 'objection';
import type {
  DeliveryStatus,
  DeliveryTry,
  EndpointStatus,
  EventType,
  SubscribableEvent,
} from './event-types.js';

export class WebhookEndpoint extends Model {
  static override tableName = 'webhook_endpoints';

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare url: string;
  declare enabledEvents: SubscribableEvent[];
  declare status: EndpointStatus;
  declare description: string | null;
  declare sealedSecret: string;
  /** Signs deliveries too until previousSignsUntil. */
  declare previousSealedSecret: string | null;
  declare previousSignsUntil: Date | null;
  declare deletedAt: Date | null;
  /** Its delivery slots while it does not fail. Named as its column, which older code beside this one reads. */
  declare places: number;
  /** The start of the first failed try since the last success. */
  declare failingSince: Date | null;
  /** The latest success while other tries were in flight or had failed. */
  declare succeededAt: Date | null;
}

export class Event extends Model {
  static override tableName = 'events';
  static override jsonAttributes = ['object'];

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare type: EventType;
  /** The id of the payable: a session or a refund. */
  declare checkoutSessionId: string;
  /** The session or refund in its wire form at the time of the event. */
  declare object: object;
}

export class WebhookDelivery extends Model {
  static override tableName = 'webhook_deliveries';
  static override jsonAttributes = ['history'];

  declare id: string;
  declare eventId: string;
  declare endpointId: string;
  declare status: DeliveryStatus;
  /** Null while the delivery is held, and when it is finished. */
  declare dueAt: Date | null;
  declare leasedUntil: Date | null;
  declare attempt: number;
  /** Takes since an outcome was last written, the current one included. */
  declare lostTakes: number;
  declare tries: number;
  declare history: DeliveryTry[];
}
