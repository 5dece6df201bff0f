import type { Api } from '../api/client.js';
import type { Delivery, Endpoint, List, Refund, Session } from '../api/objects.js';
import { type Read, useRead } from '../api/use-read.js';
import { dollars } from '../parts/format.js';
import { Shown } from '../parts/states.js';
import { Ago, Text } from '../parts/texts.js';
import { nowSeconds } from '../state/clock.js';
import { linkTo } from '../state/route.js';
import { answerInWords, type Health, healthOf } from './deliveries.js';

const EVERY_MS = 15_000;
/** The limits of the reads. An older object is not looked at. */
const ENDPOINTS = '10';
const DELIVERIES = '20';
const REFUNDS = '10';
const SESSIONS = '100';
/** A payment that is being confirmed for longer is worth a look. */
const LATE_SECONDS = 300;

interface Found {
  endpoints: { endpoint: Endpoint; health: Health }[];
  refunds: Refund[];
  undecided: Session[];
}

async function look(api: Api): Promise<Found> {
  const [endpoints, refunds, sessions] = await Promise.all([
    api.get<List<Endpoint>>('/v1/webhook_endpoints', { limit: ENDPOINTS }),
    api.get<List<Refund>>('/v1/refunds', { status: 'requires_action', limit: REFUNDS }),
    api.get<List<Session>>('/v1/checkout/sessions', { limit: SESSIONS }),
  ]);
  const judged = await Promise.all(
    endpoints.data.map(async (endpoint) => {
      const path = `/v1/webhook_endpoints/${endpoint.id}/deliveries`;
      const { data } = await api.get<List<Delivery>>(path, { limit: DELIVERIES });
      return { endpoint, health: healthOf(data) };
    }),
  );
  const lateBefore = nowSeconds() - LATE_SECONDS;
  return {
    endpoints: judged.filter(({ endpoint, health }) => endpoint.status === 'disabled' || health.isFailing),
    refunds: refunds.data,
    undecided: sessions.data.filter(({ status, created }) => status === 'processing' && created < lateBefore),
  };
}

export function useAttention(): Read<Found> {
  return useRead('attention', look, EVERY_MS);
}

/** The list of things that a merchant should look at, each with a link to its screen. */
export function Attention({ read }: { read: Read<Found> }) {
  return (
    <section class="attention">
      <h2>Needs attention</h2>
      <Shown read={read}>
        {({ endpoints, refunds, undecided }) =>
          endpoints.length + refunds.length + undecided.length === 0 ? (
            <p class="muted">
              Nothing. Webhooks arrive, no refund waits for your signature, no payment is undecided.
            </p>
          ) : (
            <ul>
              {endpoints.map(({ endpoint, health }) => (
                <li key={endpoint.id}>
                  <EndpointNote endpoint={endpoint} health={health} />
                </li>
              ))}
              {refunds.map(({ id, amount, created }) => (
                <li key={id}>
                  <a href={linkTo(['refunds', id])}>A refund of {dollars(amount)}</a> waits for your
                  signature. It was created <Ago at={created} />.
                </li>
              ))}
              {undecided.map(({ id, amount_total: amount, created }) => (
                <li key={id}>
                  <a href={linkTo(['links', id])}>A payment of {dollars(amount)}</a> is undecided. Its link
                  was created <Ago at={created} />.
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

function EndpointNote({ endpoint: { id, url, status }, health }: { endpoint: Endpoint; health: Health }) {
  return (
    <>
      <a href={linkTo(['webhooks', id])}>
        <Text>{url}</Text>
      </a>{' '}
      {status === 'disabled' ? 'is disabled: it is sent nothing.' : 'fails.'}{' '}
      {health.lastFailed === undefined ? null : (
        <>
          Last error: {answerInWords(health.lastFailed)}, <Ago at={health.lastFailed.at} />.
        </>
      )}
    </>
  );
}
