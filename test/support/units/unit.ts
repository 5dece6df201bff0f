export type Holder =
  | 'process'
  | 'address'
  | 'connection'
  | 'request'
  | 'account'
  | 'answer'
  | 'endpoint'
  | 'host'
  | 'statement';

export interface Unit {
  /** The thing that is counted, in the plural. */
  unit: string;
  holder: Holder;
  /** The file that holds it to the bound. */
  enforcedIn: string;
  /** The spec that tries the bound itself, and one step beyond. */
  triedIn: string;
  /** The name in `enforcedIn` of a bound that is a variable of the environment. */
  property?: string;
}
