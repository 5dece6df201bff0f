/**
 * Every text that a buyer reads, in one language. `{name}` is replaced by an escaped value. A language with a
 * missing text does not compile.
 */
export interface Words {
  title: string;
  titlePaid: string;
  payMerchant: string;
  paidMerchant: string;
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

  payHeading: string;
  choice: string;
  youPay: string;
  fee: string;
  feeNone: string;
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

  processing: string;
  processingText: string;
  processingMine: string;
  processingOther: string;
  seeTransaction: string;

  paid: string;
  paidText: string;
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
  continueTo: string;
  redirecting: string;
  stay: string;
  paidElsewhere: string;
  surplus: string;
  surplusText: string;

  expired: string;
  expiredText: string;
  busy: string;
  busyText: string;
  unavailable: string;
  unavailableText: string;
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
  uncertain: string;
  uncertainText: string;
  uncertainRead: string;
  failedFunds: string;
  failedTime: string;
  failedSignature: string;
  failedChanged: string;
  failedUsed: string;
  failedRefused: string;
  failedService: string;
  failedFault: string;
  failedOther: string;

  choosing: string;
  noneFound: string;
  otherWallets: string;
  families: string;
  payWith: string;
  payOn: string;
  browserWallet: string;
  chooseEntry: string;
  otherEntries: string;
  anyNetwork: string;
  looking: string;
  lookingText: string;
  payingFrom: string;
  otherAccount: string;
  otherAccountHow: string;
  inWallet: string;
  inWalletEvm: string;
  inWalletSolana: string;
  copyAddress: string;
  noWindow: string;
  accountChanged: string;
  accountGone: string;
  scanText: string;
  exchange: string;
  exchangeText: string;
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
  balance: string;
  lost: string;
  sendAgain: string;
  offline: string;

  titleProcessing: string;
  titleExpired: string;
  titlePaused: string;
  language: string;

  looksAgain: string;
  awayText: string;
  wasPayable: string;
  endedEarly: string;

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
  otherPaid: string;
  otherPaying: string;
  overMeanwhile: string;
  away: string;
}

/** Replaces each `{name}` by its value; a name without a value stays. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z]+)\}/gi, (whole, name: string) => values[name] ?? whole);
}
