/**
 * Texts that name the purpose and the payer. Each kind of payable has its own: an order is paid by a buyer, a refund by the
 * merchant. A kind without one of the texts does not compile.
 */
export interface PayableWords {
  title: string;
  titlePaid: string;
  payMerchant: string;
  paidMerchant: string;
  payHeading: string;
  processingOther: string;
  paid: string;
  paidText: string;
  paidElsewhere: string;
  surplusText: string;
  expired: string;
  titleExpired: string;
  expiredText: string;
  endedEarly: string;
  unavailableText: string;
  failedChanged: string;
  uncertain: string;
  uncertainText: string;
  exchangeText: string;
  otherPaid: string;
  otherPaying: string;
  mailSubject: string;
  mailText: string;
}

/**
 * Every text that a buyer reads, in one language. `{name}` is replaced by an escaped value. A language with a
 * missing text does not compile.
 */
export interface Words extends PayableWords {
  testMode: string;
  testModeNote: string;
  back: string;
  items: string;
  moreItems: string;
  each: string;
  support: string;
  agents: string;
  agentsText: string;
  agentsSign: string;

  choice: string;
  youPay: string;
  goesTo: string;
  payBefore: string;
  timeLeft: string;
  noScript: string;
  noWallet: string;
  noWalletText: string;
  phoneWallets: string;
  scan: string;
  qrCode: string;
  copyLink: string;
  copied: string;
  networkFee: string;
  andMore: string;
  payWithTokens: string;
  tokenOn: string;
  scanApp: string;
  pasteLink: string;
  walletConnect: string;

  processing: string;
  processingText: string;
  processingMine: string;
  seeTransaction: string;

  receipt: string;
  amount: string;
  paidIn: string;
  network: string;
  transaction: string;
  paidFrom: string;
  time: string;
  merchant: string;
  reference: string;
  print: string;
  mail: string;
  share: string;
  continueTo: string;
  redirecting: string;
  stay: string;
  surplus: string;

  busy: string;
  busyText: string;
  unavailable: string;
  tryAgain: string;
  notFound: string;
  notFoundText: string;
  tooMany: string;
  tooManyText: string;
  broken: string;
  brokenText: string;
  badRequest: string;
  badRequestText: string;

  failed: string;
  nothingPaid: string;
  uncertainRead: string;
  failedFunds: string;
  failedTime: string;
  failedSignature: string;
  failedUsed: string;
  failedRefused: string;
  failedService: string;
  failedFault: string;
  failedOther: string;

  noneFound: string;
  otherWallets: string;
  families: string;
  payWith: string;
  browserWallet: string;
  looking: string;
  lookingText: string;
  payingFrom: string;
  otherAccount: string;
  otherAccountHow: string;
  inWallet: string;
  inWalletEvm: string;
  inWalletSolana: string;
  noWindow: string;
  accountChanged: string;
  accountGone: string;
  scanText: string;
  exchange: string;
  connecting: string;
  connectingText: string;
  switching: string;
  switchingText: string;
  signing: string;
  signingText: string;
  sending: string;
  sendingText: string;
  checking: string;
  checkingText: string;
  cancel: string;
  declined: string;
  walletFailed: string;
  noAccount: string;
  wrongNetwork: string;
  notEnough: string;
  notEnoughAnywhere: string;
  enoughNowhere: string;
  nextFunds: string;
  balance: string;
  lost: string;
  sendAgain: string;
  offline: string;

  titleProcessing: string;
  titlePaused: string;
  language: string;

  looksAgain: string;
  awayText: string;
  wasPayable: string;

  stages: string;
  stageSent: string;
  stageSeen: string;
  stageConfirmed: string;
  elapsed: string;
  late: string;
  lateSending: string;

  failedSimulation: string;
  failedFee: string;
  failedContract: string;
  failedNetwork: string;
  failedAltered: string;
  failedSetup: string;
  failedSpent: string;
  failedEarly: string;

  nextAgain: string;
  nextOnce: string;
  nextToken: string;
  nextWallet: string;
  nextLater: string;
  nextFee: string;
  nextReload: string;
  nextNetwork: string;
  nextUnlock: string;
  nextAnswer: string;
  nextAllow: string;
  nextConnection: string;
  closeWallet: string;

  cancelled: string;
  walletPending: string;
  walletNoMethod: string;
  walletNoTyped: string;
  walletNoNetwork: string;
  walletLocked: string;
  walletNotAllowed: string;
  walletOffline: string;

  waiting: string;
  waitingText: string;
  overMeanwhile: string;
  away: string;
}

/** The glossary of a language: the texts use these words, inflected, and no other for the same thing. */
export interface Terms {
  /** The goods that are paid for; never the word for `request`. */
  order: string;
  /** A message that a program sends. */
  request: string;
  payment: string;
  refund: string;
  network: string;
  wallet: string;
  token: string;
}

/** Replaces each `{name}` by its value; a name without a value stays. A page of an older release may lack a text. */
export function fill(text = '', values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z]+)\}/gi, (whole, name: string) => values[name] ?? whole);
}
