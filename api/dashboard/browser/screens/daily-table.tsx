import type { DailyReport, DailyShare } from '../api/objects.js';
import { count, day, dollars } from '../parts/format.js';
import { type Column, Table } from '../parts/table.js';

type Row = DailyShare & { date: string };

const COLUMNS: readonly Column<Row>[] = [
  { head: 'Day', cell: ({ date }) => day(date) },
  { head: 'Token', cell: ({ token, network_name: network }) => `${token} on ${network}` },
  { head: 'Payments', cell: ({ payments }) => count(payments), isNumber: true, isWide: true },
  { head: 'Paid', cell: ({ amount }) => dollars(amount), isNumber: true },
  { head: 'Given back', cell: ({ refunded }) => dollars(refunded), isNumber: true, isWide: true },
];

/** The newest day first; a day without payments has no line. */
export function DailyTable({ reports }: { reports: readonly DailyReport[] }) {
  const rows = reports
    .flatMap(({ date, by }) => by.map((share) => ({ date, ...share })))
    .sort((a, b) => (a.date < b.date ? 1 : -1));
  return (
    <Table
      caption="Paid per day, by token and network"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ date, token, network }) => `${date} ${token} ${network}`}
    />
  );
}
