import type { Api } from '../api/client.js';
import type { Endpoint, List, Payment, Refund } from '../api/objects.js';
import { type Read, useRead } from '../api/use-read.js';
import { dollars } from '../parts/format.js';
import { ReadView } from '../parts/states.js';
import { Ago, Text } from '../parts/texts.js';
import { isUncertain } from '../parts/uncertain.js';
import { nowSeconds } from '../state/clock.js';
import { linkTo } from '../state/route.js';
import { answerInWords, type Health, healthOf, newestDeliveries } from './deliveries.js';

const EVERY_MS = 15_000;
/** The limits of the reads. Of more endpoints only the newest are judged; of other objects the newest are named. */
const ENDPOINTS = '10';
const DELIVERIES = '10';
/** The number of deliveries to read of an endpoint whose newest have not been tried. */
const MORE_DELIVERIES = '100';
/** More reads at once would wait for each other: the service gives an account a third of its connections to Postgres. */
const AT_ONCE = 3;
const REFUNDS = '10';
const PAYMENTS = '10';
/** A payment that is being confirmed for longer is worth a look. */
const LATE_SECONDS = 300;

interface EndpointAttention {
  endpoint: Endpoint;
  health: Health;
  /** When the first of its newest deliveries was created, where none of many or of old ones was tried. */
  behindSince: number | undefined;
}

interface AttentionItems {
  endpoints: EndpointAttention[];
  hasMoreEndpoints: boolean;
  refunds: List<Refund>;
  undecided: List<Payment>;
}

async function readAttention(api: Api): Promise<AttentionItems> {
  const lateBefore = String(nowSeconds() - LATE_SECONDS);
  const [endpoints, refunds, undecided] = await Promise.all([
    api.get<List<Endpoint>>('/v1/webhook_endpoints', { limit: ENDPOINTS }),
    api.get<List<Refund>>('/v1/refunds', { status: 'requires_action', limit: REFUNDS }),
    api.get<List<Payment>>('/v1/payments', {
      status: 'processing',
      'created[lt]': lateBefore,
      limit: PAYMENTS,
    }),
  ]);
  const judged: EndpointAttention[] = [];
  for (let from = 0; from < endpoints.data.length; from += AT_ONCE) {
    const some = endpoints.data.slice(from, from + AT_ONCE);
    judged.push(...(await Promise.all(some.map((endpoint) => readEndpoint(api, endpoint)))));
  }
  return {
    endpoints: judged.filter(
      ({ endpoint, health, behindSince }) =>
        endpoint.status === 'disabled' || health.isFailing || behindSince !== undefined,
    ),
    hasMoreEndpoints: endpoints.has_more,
    refunds,
    undecided,
  };
}

async function readEndpoint(api: Api, endpoint: Endpoint): Promise<EndpointAttention> {
  let newest = await newestDeliveries(api, endpoint.id, DELIVERIES);
  const isUntried = (): boolean => newest.every(({ tries }) => tries.length === 0);
  if (isUntried() && newest.length === Number(DELIVERIES))
    newest = await newestDeliveries(api, endpoint.id, MORE_DELIVERIES);
  const first = newest.at(-1)?.created;
  const isBehind =
    first !== undefined &&
    isUntried() &&
    (newest.length === Number(MORE_DELIVERIES) || first < nowSeconds() - LATE_SECONDS);
  return { endpoint, health: healthOf(newest), behindSince: isBehind ? first : undefined };
}

export function useAttention(): Read<AttentionItems> {
  return useRead('attention', readAttention, EVERY_MS);
}

/** The list of things that a merchant should look at, each with a link to its screen. */
export function Attention({ read }: { read: Read<AttentionItems> }) {
  return (
    <section class="attention">
      <h2>Needs attention</h2>
      <ReadView read={read}>
        {({ endpoints, hasMoreEndpoints, refunds, undecided }) =>
          endpoints.length + refunds.data.length + undecided.data.length === 0 ? (
            <p class="muted">
              Nothing.{' '}
              {hasMoreEndpoints
                ? `None of the newest ${ENDPOINTS} webhook endpoints fails,`
                : 'No webhook endpoint fails,'}{' '}
              no refund waits for your signature, and no payment is undecided for more than five minutes.
            </p>
          ) : (
            <ul>
              {endpoints.map((judged) => (
                <li key={judged.endpoint.id}>
                  <EndpointNote judged={judged} />
                </li>
              ))}
              {refunds.data.map((refund) => (
                <li key={refund.id}>
                  <RefundNote refund={refund} />
                </li>
              ))}
              {refunds.has_more ? (
                <li>
                  <a href={linkTo(['refunds'], { status: 'requires_action' })}>More refunds</a> wait.
                </li>
              ) : null}
              {undecided.data.map(({ id, amount, created }) => (
                <li key={id}>
                  <a href={linkTo(['payments', id])}>A payment of {dollars(amount)}</a> is undecided. It was
                  sent <Ago at={created} />.
                </li>
              ))}
              {undecided.has_more ? (
                <li>
                  <a href={linkTo(['payments'], { status: 'processing' })}>More payments</a> are undecided.
                </li>
              ) : null}
            </ul>
          )
        }
      </ReadView>
    </section>
  );
}

function RefundNote({ refund }: { refund: Refund }) {
  const { id, amount, created } = refund;
  return (
    <>
      <a href={linkTo(['refunds', id])}>A refund of {dollars(amount)}</a>{' '}
      {isUncertain(refund)
        ? 'may be paid already: the outcome of its payment is not known. Do not sign it again before you have looked into the wallet that signed.'
        : 'waits for your signature.'}{' '}
      It was created <Ago at={created} />.
    </>
  );
}

function EndpointNote({ judged: { endpoint, health, behindSince } }: { judged: EndpointAttention }) {
  const { id, url, status } = endpoint;
  return (
    <>
      <a href={linkTo(['webhooks', id])}>
        <Text>{url}</Text>
      </a>{' '}
      {status === 'disabled' ? 'is disabled: it is sent nothing.' : <Trouble behindSince={behindSince} />}{' '}
      {health.lastFailed === undefined ? null : (
        <>
          Last error: {answerInWords(health.lastFailed)}, <Ago at={health.lastFailed.at} />.
        </>
      )}
    </>
  );
}

function Trouble({ behindSince }: Pick<EndpointAttention, 'behindSince'>) {
  if (behindSince === undefined) return <>fails.</>;
  return (
    <>
      is behind: its newest events have not been sent yet. The first of them is from <Ago at={behindSince} />.
    </>
  );
}
