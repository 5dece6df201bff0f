import { useState } from 'preact/hooks';
import { type Api, ApiError } from '../api/client.js';
import type { Endpoint } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { useRead } from '../api/use-read.js';
import { ConfirmedButton } from '../parts/dialog.js';
import { plural } from '../parts/format.js';
import { ReadView } from '../parts/states.js';
import { Ago } from '../parts/texts.js';
import { nowSeconds } from '../state/clock.js';
import { answerInWords, failedOfLastDay, type Health, type ResendBatch } from './deliveries.js';
import { useHealth } from './health.js';

/** The endpoint's last answer, and a button that sends again the events that it did not take. */
export function LastAnswer({ endpoint }: { endpoint: Endpoint }) {
  const health = useHealth(endpoint.id);
  return (
    <section class="last-answer">
      <h2>Last answer</h2>
      <ReadView read={health}>{(data) => <Answer health={data} />}</ReadView>
      <ResendFailed endpoint={endpoint} onSent={() => void health.reload()} />
    </section>
  );
}

function Answer({ health: { tries, succeeded, last, isFailing } }: { health: Health }) {
  if (last === undefined) return <p class="muted">None of the newest deliveries was tried yet.</p>;
  return (
    <>
      <p class={isFailing ? 'failure' : ''}>
        It {answerInWords(last)}, <Ago at={last.at} />. {succeeded} of the newest{' '}
        {plural(tries, 'try', 'tries')} succeeded.
      </p>
      {last.answer ? <pre class="answer">{last.answer}</pre> : null}
    </>
  );
}

interface ResendFailedProps {
  endpoint: Endpoint;
  onSent(): void;
}

/** The list of what failed is read again meanwhile, and is then shorter than the batch. */
interface Progress {
  sent: number;
  of: number;
}

function ResendFailed({ endpoint, onSent }: ResendFailedProps) {
  const { api } = useSignedIn();
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const found = useRead<ResendBatch>(
    `failed of ${endpoint.id}`,
    (from) => failedOfLastDay(from, endpoint.id, nowSeconds()),
    60_000,
  );
  if (found.data === undefined) return <p class="muted">Counting what failed in the last day …</p>;
  const { events, isCut } = found.data;
  if (events.length === 0)
    return <p class="muted">Nothing that failed in the last day waits to be sent again.</p>;
  if (endpoint.status === 'disabled')
    return (
      <p>
        Enable the endpoint to send again the {plural(events.length, 'event')} that failed in the last day.
      </p>
    );
  const label = `Resend the ${plural(events.length, 'event')} that failed in the last day`;
  return (
    <ConfirmedButton
      label={label}
      confirm="Resend now"
      isPrimary
      work={async () => {
        // Events that were resent before a failure are not in the list of the next try.
        const { length: of } = events;
        await resendAll(api, endpoint.id, events, (sent) => setProgress({ sent, of })).finally(() => {
          setProgress(undefined);
          return found.reload();
        });
        onSent();
        return `${plural(of, 'event')} will be sent again now.`;
      }}
    >
      <p>
        Each is sent once more, under its own id, to this endpoint. Your program skips those that it already
        has by that id.
        {isCut ? ' Only the newest 1,000 deliveries were looked through.' : ''}
      </p>
      {progress === undefined ? null : (
        <p role="status">
          {progress.sent} of {progress.of} resent …
        </p>
      )}
    </ConfirmedButton>
  );
}

const MOST_PAUSES = 20;
const TOO_MANY = 429;

/** Resends one event after the other; when the service asks for a pause, the same event follows it. */
async function resendAll(
  api: Api,
  endpointId: string,
  events: readonly string[],
  onSent: (count: number) => void,
): Promise<void> {
  let pauses = 0;
  for (const [index, event] of events.entries()) {
    for (;;) {
      try {
        await api.change(`/v1/events/${event}/resend`, { webhook_endpoint: endpointId });
        break;
      } catch (error) {
        const isPause = error instanceof ApiError && error.status === TOO_MANY && pauses < MOST_PAUSES;
        if (!isPause) throw error;
        pauses += 1;
        await new Promise((resolve) => setTimeout(resolve, error.retryAfterSeconds * 1000));
      }
    }
    onSent(index + 1);
  }
}
