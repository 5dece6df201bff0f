/** Parts of a JSON text that Postgres writes by itself, byte for byte as `JSON.stringify` would. */
export interface Sql {
  sql: string;
}

/** SQL that gives the text of one value. */
export const sql = (text: string): Sql => ({ sql: text });
export const textColumn = (column: string): Sql =>
  sql(`CASE WHEN ${column} IS NULL THEN 'null' ELSE to_json(${column})::text END`);
export const booleanColumn = (column: string): Sql => sql(`CASE WHEN ${column} THEN 'true' ELSE 'false' END`);
export const secondsColumn = (column: string): Sql => sql(`floor(extract(epoch FROM ${column}))::bigint`);
/** Of a column that holds JSON. */
export const member = (column: string, name: string): Sql => sql(`(${column} -> '${name}')::text`);

/** What is constant between two columns is one constant. */
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
