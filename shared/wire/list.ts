export interface WireList<T> {
  object: 'list';
  url: string;
  has_more: boolean;
  data: T[];
}

export function presentList<T>(url: string, data: T[], hasMore: boolean): WireList<T> {
  return { object: 'list', url, has_more: hasMore, data };
}

/** The JSON text of a list around its objects. */
interface ListText {
  before: string;
  between: string;
  after: string;
}

export function textOfList(url: string, hasMore: boolean): ListText {
  const empty = JSON.stringify(presentList(url, [], hasMore));
  const after = ']}';
  return { before: empty.slice(0, -after.length), between: ',', after };
}

/** Each object is given as the pieces of its JSON text. */
export function* renderObjects(
  objects: Iterable<Iterable<string>>,
  { before, between, after }: ListText,
): Generator<string> {
  let isFirst = true;
  for (const object of objects) {
    yield isFirst ? before : between;
    yield* object;
    isFirst = false;
  }
  yield isFirst ? before + after : after;
}
