import { setTimeout as pause } from 'node:timers/promises';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { isJsonObject } from '../../../shared/values/json-object.js';
import { findRunningSandbox } from '../data-folder/endpoints.js';
import { createAgent } from './agent.js';
import { Failure } from './failure.js';
import { type PayOptions, parsePayOptions, USAGE } from './options.js';
import {
  type Answer,
  choose,
  describeAmount,
  type Entry,
  messageOf,
  readAnswer,
  readEntries,
  visit,
} from './quote.js';

interface Output {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** The buyer agent's command. Prints each step; returns exit code 0 when the link is paid. */
export async function main(
  argv: readonly string[],
  sandboxFolder: string,
  output: Output = process,
): Promise<number> {
  const say: Say = (line) => output.stdout.write(`${line}\n`);
  try {
    const options = parsePayOptions(argv);
    if (options === undefined) say(USAGE);
    else await pay(options, sandboxFolder, say);
    return 0;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    output.stderr.write(`${error instanceof Failure ? reason : `This did not work: ${reason}`}\n`);
    return 1;
  }
}

const POLL_MS = 1000;
const PATIENCE_MS = 20 * 60_000;
const STOCK_LIMIT = 1_000_000n;

type Say = (line: string) => void;

async function pay(options: PayOptions, sandboxFolder: string, say: Say): Promise<void> {
  const { link, wallets } = options;
  const asked = askedUrl(options);
  const quoted = readEntries(await visit(asked), link);
  // The refusal of a link that lacks the wanted entry names the link's entries.
  const entry = choose(quoted.length > 0 ? quoted : readEntries(await visit(link), link), options);
  const amount = describeAmount(entry);
  const { name } = entry.token.network;
  say(`The link asks for ${amount} on ${name} (${entry.network}), to ${entry.payTo}.`);
  const rpcUrl = options.rpcUrl ?? (await findRunningSandbox(sandboxFolder))?.rpcUrls.SOLANA_DEVNET;
  const agent = await createAgent(entry, wallets, rpcUrl);
  if (entry.amount > STOCK_LIMIT) {
    say(
      `A stock x402 client refuses to pay more than $1: its limit is raised to ${amount} for this payment.`,
    );
  }
  say(`Paying from ${agent.address} …`);
  const request = agent.fetch(asked, { headers: { accept: 'application/json' } });
  const answer = await settled(link, await readAnswer(link, request), say);
  if (answer.status !== 200) throw explain(answer, entry, agent.address);
  say(describeReceipt(answer, entry));
}

/** A 402 has room for some networks and tokens only, unless it is asked for one. */
function askedUrl({ link, network, token }: PayOptions): string {
  const url = new URL(link);
  if (network !== undefined) url.searchParams.set('network', network);
  if (token !== undefined) url.searchParams.set('token', token);
  return url.href;
}

/** A 202 means that money may be moving: the link is polled, without a new payment, until it answers otherwise. */
async function settled(link: string, first: Answer, say: Say): Promise<Answer> {
  if (first.status !== 202) return first;
  say('Accepted; the payment is being settled (HTTP 202). Asking until it is …');
  const deadline = AbortSignal.timeout(PATIENCE_MS);
  while (!deadline.aborted) {
    await pause(POLL_MS);
    const answer = await visit(link);
    if (answer.status !== 202 && answer.status !== 429) return answer;
  }
  throw new Failure(`Not settled yet. Do not pay again; see what became of it: ${link}`);
}

function explain({ status, body }: Answer, entry: Entry, wallet: string): Failure {
  const { code } = body;
  if (code === 'insufficient_funds') {
    return new Failure(
      `Not paid: ${wallet} does not hold ${describeAmount(entry)} on ${entry.token.network.name}.`,
    );
  }
  if (status === 409)
    return new Failure(`Not paid: somebody else has paid this link, or is about to${messageOf(body)}`);
  if (status === 410) return new Failure('Not paid: the payment link has expired.');
  const named = typeof code === 'string' ? ` (${code})` : '';
  return new Failure(`Not paid, and no money has moved: HTTP ${status}${named}${messageOf(body)}`);
}

function describeReceipt({ headers, body }: Answer, entry: Entry): string {
  const receipt = decodePaymentResponseHeader(headers.get('PAYMENT-RESPONSE') ?? '');
  const paid = isJsonObject(body.refund) ? 'refund' : 'session';
  const { id } = isJsonObject(body[paid]) ? body[paid] : {};
  return `
  Paid ${describeAmount(entry)} (HTTP 200)
    network      ${receipt.network}
    transaction  ${receipt.transaction}
    payer        ${receipt.payer ?? ''}
    ${paid.padEnd(12)} ${id}
`;
}
