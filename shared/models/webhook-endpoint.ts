import { Model } from 'objection';
import type { EndpointStatus, SubscribableEvent } from '../domain/webhook-event.js';

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
  /** The secret before, which signs too until then. */
  declare previousSealedSecret: string | null;
  declare previousSignsUntil: Date | null;
  declare deletedAt: Date | null;
  /** How many tries may be on their way to it at once, while it does not fail. */
  declare places: number;
  /** The start of the first failed try since one succeeded. */
  declare failingSince: Date | null;
  /** The latest success while others were on their way or had failed. */
  declare succeededAt: Date | null;
}
