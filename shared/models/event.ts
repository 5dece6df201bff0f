import { Model } from 'objection';
import type { EventType } from '../domain/webhook-event.js';

export class Event extends Model {
  static override tableName = 'events';
  static override jsonAttributes = ['object'];

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare type: EventType;
  /** The payable's: a session's id, or a refund's. */
  declare checkoutSessionId: string;
  /** Session or refund in its wire form, as it was when the event happened. */
  declare object: object;
}
