import { Model } from 'objection';
import type { EventType } from '../domain/webhook-event.js';

export class Event extends Model {
  static override tableName = 'events';
  static override jsonAttributes = ['object'];

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare type: EventType;
  declare checkoutSessionId: string;
  /** The session in its wire form, as it was when the event happened. */
  declare object: object;
}
