/** CSV (RFC 4180), safe to open in a spreadsheet. */
type Cell = string | number | boolean | null;

export type Columns<T> = readonly (readonly [name: string, cell: (object: T) => Cell])[];

/** A spreadsheet would execute a cell that starts like this. */
const FORMULA = /^[=+\-@\t\r\n]/;
const END = '\r\n';

export function headLine(columns: Columns<never>): string {
  return columns.map(([name]) => name).join(',') + END;
}

export function csvLine<T>(columns: Columns<T>, object: T): string {
  return columns.map(([, cell]) => writeCell(cell(object))).join(',') + END;
}

function writeCell(cell: Cell): string {
  const text = String(cell ?? '');
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
