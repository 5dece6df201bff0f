import { Model } from 'objection';
import type { DeliveryStatus, DeliveryTry } from '../domain/webhook-event.js';

export class WebhookDelivery extends Model {
  static override tableName = 'webhook_deliveries';
  static override jsonAttributes = ['history'];

  declare id: string;
  declare eventId: string;
  declare endpointId: string;
  declare status: DeliveryStatus;
  /** Null while it is held, and when it is over. */
  declare dueAt: Date | null;
  declare leasedUntil: Date | null;
  declare attempt: number;
  /** Takers since an outcome was last written, the present one included. */
  declare lostTakes: number;
  declare tries: number;
  declare history: DeliveryTry[];
}
