/** The values in their order, `size` in each group but the last. */
export function inGroups<T>(values: readonly T[], size: number): T[][] {
  const groups: T[][] = [];
  for (let at = 0; at < values.length; at += size) groups.push(values.slice(at, at + size));
  return groups;
}

/** The ids in their order, in groups whose sizes sum to at most `limit`. A larger row is a group by itself. */
export function idsWithin<Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
  sizeOf: (row: Row) => number,
): string[][] {
  const groups: string[][] = [];
  let room = 0;
  for (const row of rows) {
    const group = groups.at(-1);
    const size = sizeOf(row);
    if (group === undefined || size > room) {
      groups.push([row.id]);
      room = limit - size;
    } else {
      group.push(row.id);
      room -= size;
    }
  }
  return groups;
}
