import { Model } from 'objection';

export class ApiKey extends Model {
  static override tableName = 'api_keys';

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare name: string;
  declare secretSha256: Buffer;
  declare facilitatorKeyId: string | null;
  /** To the hour; null before its first use. */
  declare lastUsedAt: Date | null;
  declare revokedAt: Date | null;
}
