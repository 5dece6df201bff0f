import { Model } from 'objection';

export class FacilitatorKey extends Model {
  static override tableName = 'facilitator_keys';
  static override idColumn = 'keyId';

  declare keyId: string;
  declare accountId: string;
  /** Ed25519, SPKI DER. */
  declare publicKey: Buffer;
}
