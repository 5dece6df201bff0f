import { type ColumnNameMappers, Model } from 'objection';
import type { EventType, SubscribableEvent } from './event-types.js';
import type { DeliveryStatus, DeliveryTry, EndpointStatus } from './states.js';

export class WebhookEndpoint extends Model {
  static override tableName = 'webhook_endpoints';
  /** The column of `slots` is `places`: older releases read it too. Conditions of queries name the column. */
  static override columnNameMappers: ColumnNameMappers = {
    parse: ({ places, ...row }) => (places === undefined ? row : { ...row, slots: places }),
    format: ({ slots, ...row }) => (slots === undefined ? row : { ...row, places: slots }),
  };

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare url: string;
  declare enabledEvents: SubscribableEvent[];
  declare status: EndpointStatus;
  declare description: string | null;
  declare sealedSecret: string;
  /** The secret before the last roll. It signs too until `previousSignsUntil`. */
  declare previousSealedSecret: string | null;
  declare previousSignsUntil: Date | null;
  declare deletedAt: Date | null;
  /** When the endpoint was last switched on. */
  declare enabledAt: Date | null;
  /** The delivery up to which workers have released or dropped pending deliveries; null when there is nothing to do. */
  declare sweptTo: string | null;
  /** How many deliveries to the endpoint may be in flight while it does not fail. */
  declare slots: number;
  /** The start of the first failed try since the last success. */
  declare failingSince: Date | null;
  /** Set while deliveries are held because the secret cannot be opened. */
  declare unreadableSince: Date | null;
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
  /** The id of a session or of a refund. */
  declare payableId: string;
  /** The wire form of the session or refund at the time of the event. */
  declare object: object;
}

export class WebhookDelivery extends Model {
  static override tableName = 'webhook_deliveries';
  static override jsonAttributes = ['history'];

  declare id: string;
  declare eventId: string;
  declare endpointId: string;
  declare status: DeliveryStatus;
  /** Null after the delivery has ended. Releases before this one also set it to null to hold the delivery. */
  declare dueAt: Date | null;
  declare leasedUntil: Date | null;
  declare attempt: number;
  /** Crashes of workers on the row since an outcome was last written, and the present taker while there is one. */
  declare lostTakes: number;
  declare tries: number;
  declare history: DeliveryTry[];
}
