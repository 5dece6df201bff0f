/** How much of the wide model is explored at once. */
export interface Scope {
  readonly name: string;
  /** How many payloads may be signed for the session. */
  readonly payments: 1 | 2 | 3;
  /** The payloads that may be signed for a refund of it; 0: no refund is asked for. */
  readonly refundPayments: 0 | 1;
  /** Postgres may fail over to a standby without the last commits, once. */
  readonly failsOver: boolean;
  /**
   * The commits that the standby lacks. `its own`: those since it stopped to follow; the model then has two copies of every
   * row. `anything`: at any time after the promotion a call that Postgres does not know may send, and a payload that it does
   * not know may be signed. That is more than can happen, so a promise kept there is kept in every failover; one copy is enough.
   */
  readonly forgets: 'its own' | 'anything';
  /** How many false statements witnesses whose word counts may make: a clear refusal, a fork's block, a person. */
  readonly lies: 0 | 1 | 2;
  /** Clocks may be ahead, and endpoints late, limited or searching; otherwise an endpoint shows all, or nothing. */
  readonly faults: 'all' | 'few';
  /** The owner of an authorization may cancel it. */
  readonly ownerCancels: boolean;
}

const PLAIN = {
  payments: 1,
  refundPayments: 0,
  failsOver: false,
  forgets: 'its own',
  lies: 0,
  faults: 'few',
  ownerCancels: false,
} as const satisfies Omit<Scope, 'name'>;

/** Each is explored in seconds. */
export const SCOPES = {
  onePayment: {
    ...PLAIN,
    name: 'one payment, every witness, a failover',
    failsOver: true,
    lies: 1,
    faults: 'all',
    ownerCancels: true,
  },
  twoPayments: {
    ...PLAIN,
    name: 'two payments, a failover that forgets anything',
    payments: 2,
    failsOver: true,
    forgets: 'anything',
  },
  refund: {
    ...PLAIN,
    name: 'a payment and its refund, a failover that forgets anything',
    refundPayments: 1,
    failsOver: true,
    forgets: 'anything',
  },
  threePayments: {
    ...PLAIN,
    name: 'three payments and a refund, a lie',
    payments: 3,
    refundPayments: 1,
    lies: 1,
  },
} as const satisfies Record<string, Scope>;

/** A scope that is enough to find the mutants that need no failover. */
export const WITHOUT_FAILOVER: Scope = {
  ...SCOPES.onePayment,
  name: 'one payment, every witness',
  failsOver: false,
};

/** Scopes that only the command explores: they take minutes. */
export const LONG_SCOPES = {
  twoLiedAbout: { ...PLAIN, name: 'two payments, a lie, a failover', payments: 2, lies: 1, failsOver: true },
  twoWitnessed: {
    ...PLAIN,
    name: 'two payments, every witness, a failover',
    payments: 2,
    faults: 'all',
    failsOver: true,
  },
  twoWithRefund: {
    ...PLAIN,
    name: 'two payments and a refund, a failover',
    payments: 2,
    refundPayments: 1,
    failsOver: true,
  },
  threeWithRefund: {
    ...PLAIN,
    name: 'three payments and a refund, a failover that forgets anything',
    payments: 3,
    refundPayments: 1,
    failsOver: true,
    forgets: 'anything',
  },
  threeLiedAbout: {
    ...PLAIN,
    name: 'three payments, two lies, a limited endpoint, clocks ahead',
    payments: 3,
    lies: 2,
    faults: 'all',
  },
} as const satisfies Record<string, Scope>;
