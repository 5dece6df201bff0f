import { Model } from 'objection';

export class OperatorAction extends Model {
  static override tableName = 'operator_actions';
  static override jsonAttributes = ['arguments'];

  declare id: number;
  declare at: Date;
  /** The system user and the host, `root@web-1`; on the dashboard its user, `admin@dashboard`. */
  declare who: string;
  declare what: string;
  declare arguments: Record<string, string>;
  /** The object's id, or the job. */
  declare about: string | null;
}
