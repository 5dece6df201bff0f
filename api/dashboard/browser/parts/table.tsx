import type { ComponentChildren } from 'preact';

export interface Column<T> {
  head: string;
  cell(row: T): ComponentChildren;
  /** A wide column is left out on narrow screens. */
  isWide?: boolean;
  /** Numbers end at the same place. */
  isNumber?: boolean;
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
}

export function Table<T>({ caption, columns, rows, keyOf }: TableProps<T>) {
  const classOf = ({ isWide, isNumber }: Column<T>): string =>
    `${isWide ? 'wide' : ''} ${isNumber ? 'number' : ''}`.trim();
  return (
    <table>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.head} scope="col" class={classOf(column)}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.head} class={classOf(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
