/** SQL expressions for a JSON text that equals the output of `JSON.stringify` byte for byte. */
export interface Sql {
  sql: string;
}

/** An SQL expression for the JSON text of one value. */
export const sql = (text: string): Sql => ({ sql: text });
export const textColumn = (column: string): Sql =>
  sql(`CASE WHEN ${column} IS NULL THEN 'null' ELSE to_json(${column})::text END`);
export const booleanColumn = (column: string): Sql => sql(`CASE WHEN ${column} THEN 'true' ELSE 'false' END`);
export const secondsColumn = (column: string): Sql => sql(`floor(extract(epoch FROM ${column}))::bigint`);
/** A member of a JSON column. */
export const member = (column: string, name: string): Sql => sql(`(${column} -> '${name}')::text`);

/** Adjacent constants are merged into one SQL literal. */
export function asJson(fields: Record<string, Sql | string | string[] | null>): string {
  const parts: string[] = [];
  let constant = '{';
  for (const [name, value] of Object.entries(fields)) {
    constant += `${constant.endsWith('{') ? '' : ','}${JSON.stringify(name)}:`;
    if (value === null || typeof value === 'string' || Array.isArray(value)) {
      constant += JSON.stringify(value);
      continue;
    }
    parts.push(`'${constant}'`, value.sql);
    constant = '';
  }
  return `concat(${parts.join(', ')}, '${constant}}')::json`;
}
