/** Tables as RFC 4180 has them, for people who open them in a spreadsheet. */
export type Cell = string | number | boolean | null;

/** Names and what stands below them, from left to right. */
export type Columns<T> = readonly (readonly [name: string, cell: (object: T) => Cell])[];

/** A spreadsheet would run it. */
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
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
