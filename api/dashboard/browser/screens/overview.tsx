import { useEffect, useState } from 'preact/hooks';
import type { DailyReport, List } from '../api/objects.js';
import { type Read, useRead } from '../api/use-read.js';
import { Choice } from '../parts/field.js';
import { dollars, plural } from '../parts/format.js';
import { Screen } from '../parts/screen.js';
import { Empty, Loading, ReadView } from '../parts/states.js';
import { nowSeconds } from '../state/clock.js';
import { goTo, linkTo, type Route } from '../state/route.js';
import { Attention, useAttention } from './attention.js';
import { DailyChart } from './daily-chart.js';
import { DailyTable } from './daily-table.js';
import { dayBefore, ownTimeZone } from './dates.js';

const SPANS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
const EVERY_MS = 10_000;
const NOT_THERE = 404;

export function OverviewScreen({ route }: { route: Route }) {
  const span = SPANS.find(([days]) => days === route.query.days)?.[0] ?? '30';
  const attention = useAttention();
  const days = useDays(Number(span));
  const [wasShown, setWasShown] = useState(false);
  const isShown = wasShown || (hasEnded(attention) && hasEnded(days));
  useEffect(() => setWasShown(isShown), [isShown]);
  return (
    <Screen title="Overview">
      {isShown ? (
        <>
          <Attention read={attention} />
          <section>
            <div class="screen-head">
              <h2>Paid per day</h2>
              <Choice
                label="Days"
                value={span}
                onValue={(value) => goTo(linkTo(['overview'], { days: value }))}
                options={SPANS}
              />
            </div>
            <Days read={days} />
          </section>
        </>
      ) : (
        <Loading />
      )}
    </Screen>
  );
}

/** Both parts come together, so that the upper one does not move the lower one. */
function hasEnded({ data, error }: Read<unknown>): boolean {
  return data !== undefined || error !== undefined;
}

function useDays(days: number): Read<List<DailyReport>> {
  const timezone = ownTimeZone();
  const to = dayBefore(nowSeconds(), 0, timezone);
  const from = dayBefore(nowSeconds(), days - 1, timezone);
  return useRead(
    `daily ${from} ${to}`,
    (api) => api.get('/v1/reports/daily', { from, to, timezone }),
    EVERY_MS,
  );
}

function Days({ read }: { read: Read<List<DailyReport>> }) {
  if (read.data === undefined && read.error?.status === NOT_THERE) {
    return (
      <Empty title="This service has no daily totals.">
        Its release is older than this page. <a href={linkTo(['payments'])}>Payments</a> lists what was paid.
      </Empty>
    );
  }
  return (
    <div class="chart-place">
      <ReadView read={read}>{({ data }) => <Report reports={data} />}</ReadView>
    </div>
  );
}

function Report({ reports }: { reports: readonly DailyReport[] }) {
  const [isTable, setIsTable] = useState(false);
  const sum = (name: 'amount' | 'payments' | 'refunded' | 'refunds' | 'surplus'): number =>
    reports.reduce((total, report) => total + report[name], 0);
  if (sum('payments') === 0 && sum('refunds') === 0 && sum('surplus') === 0) {
    return (
      <Empty title="Nothing was paid in these days.">
        <a href={linkTo(['links', 'new'])}>Create a payment link</a> and send it to a buyer.
      </Empty>
    );
  }
  return (
    <>
      <p class="amount">
        {dollars(sum('amount'))} <span class="muted">in {plural(sum('payments'), 'payment')}</span>
      </p>
      {sum('refunds') === 0 ? null : (
        <p class="muted">
          {dollars(sum('refunded'))} given back in {plural(sum('refunds'), 'refund')}
        </p>
      )}
      {sum('surplus') === 0 ? null : (
        <p class="muted">
          {dollars(sum('surplus'))} more came for links that were paid already. The sums and the chart are
          without it, and you can refund it: see <a href={linkTo(['payments'])}>Payments</a>.
        </p>
      )}
      <button type="button" class="small" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
        Show as a table
      </button>
      {isTable ? <DailyTable reports={reports} /> : <DailyChart reports={reports} />}
    </>
  );
}
