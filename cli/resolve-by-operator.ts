import { type Chains, createChains } from '../shared/chains/chains.js';
import { transactionName } from '../shared/chains/networks/text-forms.js';
import type { Config } from '../shared/config/config.js';
import type { Knex } from '../shared/db/knex.js';
import { presentOperatorPayment } from '../shared/payments/present-operator.js';
import { decisionNotifier } from '../shared/queues/decision-notifier.js';
import { leaveToSweep } from '../shared/queues/delivery-notifier.js';
import type { Resolution } from '../shared/settlement/policy/by-operator.js';
import {
  mayStillArriveRefusal,
  proofOf,
  refuseIfPaidAnother,
  resolvePayment,
  whyMoneyMayArrive,
} from '../shared/settlement/resolve.js';
import { type CommandContext, type Input, subjectOf } from './command.js';
import { linkBaseUrl } from './link-base-url.js';
import { commandLogger } from './logger.js';
import { UsageError } from './parse-command-line.js';

/** The operator accepts that the payment's money may still move, or has moved. */
const CAN_STILL_ARRIVE = 'even-if-it-can-still-arrive';
/** The operator accepts that the chain does not show the transaction. */
const NOT_SEEN = 'even-if-not-seen';

/** Decides a payment as the operator says, when the chain does not contradict. */
export async function resolveByOperator(db: Knex, input: Input, context: CommandContext): Promise<object> {
  const resolution = readResolution(input);
  const payment = subjectOf(input, 'payment');
  const source = { db, config: context.config };
  if (resolution.kind === 'paid') await prove(source, payment, resolution, input[NOT_SEEN] !== undefined);
  else await disprove(source, payment, resolution, input[CAN_STILL_ARRIVE] !== undefined);
  const logger = commandLogger(context);
  const baseUrl = linkBaseUrl(context);
  return presentOperatorPayment(
    await resolvePayment(
      { db, logger, baseUrl, notifyDeliveries: leaveToSweep, notifyDecided: decisionNotifier(undefined) },
      payment,
      resolution,
    ),
  );
}

interface Source {
  db: Knex;
  config: Config;
}

async function prove(
  { db, config }: Source,
  payment: string,
  resolution: Extract<Resolution, { kind: 'paid' }>,
  evenIfNotSeen: boolean,
): Promise<void> {
  await refuseIfPaidAnother(db, payment, resolution.transaction);
  if (evenIfNotSeen) return;
  resolution.proof = await withChains(config, (chains) =>
    proofOf({ db, chains, config }, payment, resolution.transaction),
  );
}

/** Without a proof that no money moved, the buyer is told that it may have. */
async function disprove(
  { db, config }: Source,
  payment: string,
  resolution: Extract<Resolution, { kind: 'failed' }>,
  evenIfItCanStillArrive: boolean,
): Promise<void> {
  const why = await withChains(config, (chains) => whyMoneyMayArrive({ db, chains }, payment));
  resolution.unproven = why !== undefined;
  if (why !== undefined && !evenIfItCanStillArrive) throw mayStillArriveRefusal(payment, why);
}

async function withChains<T>(
  { rpcUrls, confirmations }: Config,
  ask: (chains: Chains) => Promise<T>,
): Promise<T> {
  const chains = createChains(rpcUrls, { confirmations });
  try {
    return await ask(chains);
  } finally {
    chains.close();
  }
}

function readResolution({ paid, failed, reason }: Input): Resolution {
  if ((paid === undefined) === (failed === undefined)) {
    throw new UsageError('Give either --paid <transaction>, or --failed --reason R.');
  }
  if (paid !== undefined) {
    if (/^[A-Za-z0-9]{1,200}$/.test(paid)) return { kind: 'paid', transaction: transactionName(paid) };
    throw new UsageError('--paid must be a transaction id of letters and digits.');
  }
  if (reason !== undefined && /^[a-z0-9_]{1,100}$/.test(reason)) return { kind: 'failed', reason };
  throw new UsageError('--reason must be 1 to 100 characters of a to z, 0 to 9 and _.');
}
