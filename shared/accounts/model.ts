import { Model } from 'objection';

/** `read`: only requests that change nothing. */
export const KEY_ACCESS = ['full', 'read'] as const;
export type KeyAccess = (typeof KEY_ACCESS)[number];

export class Account extends Model {
  static override tableName = 'accounts';

  declare id: string;
  declare name: string;
  declare evmWallet: string | null;
  declare solanaWallet: string | null;
  declare logoUrl: string | null;
  declare brandColor: string | null;
  declare supportEmail: string | null;
  /** Null: enabled. */
  declare disabledAt: Date | null;
}

export class ApiKey extends Model {
  static override tableName = 'api_keys';

  declare id: string;
  declare accountId: string;
  declare livemode: boolean;
  declare name: string;
  /** A read-only key is stored as the SHA-256 of its SHA-256, so releases that know no read-only keys do not find it. */
  declare secretSha256: Buffer;
  declare access: KeyAccess;
  declare facilitatorKeyId: string | null;
  /** The time of the last use, to the hour; null before the first use. */
  declare lastUsedAt: Date | null;
  declare revokedAt: Date | null;
  /** Revoked only while its account is disabled. */
  declare suspended: boolean;
}

export class FacilitatorKey extends Model {
  static override tableName = 'facilitator_keys';
  static override idColumn = 'keyId';

  declare keyId: string;
  declare accountId: string;
  /** Ed25519, SPKI DER. */
  declare publicKey: Buffer;
}

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

export class OperatorAction extends Model {
  static override tableName = 'operator_actions';
  static override jsonAttributes = ['arguments'];

  declare id: number;
  declare at: Date;
  /** The system user and the host, `root@web-1`; on the dashboard its user, `admin@dashboard`. */
  declare who: string;
  declare what: string;
  declare arguments: Record<string, string>;
  /** The id of an object or of a job. */
  declare about: string | null;
}
