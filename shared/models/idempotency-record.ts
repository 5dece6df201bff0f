import { Model } from 'objection';

export class IdempotencyRecord extends Model {
  static override tableName = 'idempotency_records';
  static override idColumn = ['accountId', 'livemode', 'key'];

  declare accountId: string;
  declare livemode: boolean;
  declare key: string;
  declare path: string;
  declare fingerprint: Buffer;
  declare answer: string;
  declare sealed: boolean;
  declare createdAt: Date;
}
