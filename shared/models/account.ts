import { Model } from 'objection';

export class Account extends Model {
  static override tableName = 'accounts';

  declare id: string;
  declare name: string;
  declare evmWallet: string | null;
  declare solanaWallet: string | null;
  declare logoUrl: string | null;
  declare brandColor: string | null;
  declare supportEmail: string | null;
}
