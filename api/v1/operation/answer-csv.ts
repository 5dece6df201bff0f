import type { Page, PageRequest } from '../../../shared/db/listing.js';
import type { Sized } from '../../../shared/db/sized-columns.js';
import { ANSWER_PART_BYTES, TABLE_PART_ROWS } from '../../../shared/limits/bounds.js';
import { idsWithin } from '../../../shared/values/in-groups.js';
import { type Columns, csvLine, headLine } from '../../../shared/wire/csv.js';
import type { InputParser } from '../../input/input-parser.js';
import type { HeavyAnswers } from '../../limits/heavy-answers.js';
import type { Answer } from './answer-once.js';
import { heavyText, type ReadPart } from './heavy-text.js';
import type { Call, Operation } from './operation.js';

const MEDIA_TYPE = 'text/csv; charset=utf-8';

/** A list as CSV, one line per object, newest first. */
interface Table<T> {
  columns: Columns<T>;
  list(page: PageRequest): Promise<Page<Sized<T>>>;
  /** Returns the full objects in the order of `ids`. */
  read(ids: readonly string[]): Promise<T[]>;
}

/** Serves CSV when the Accept header prefers it, else JSON. */
export function listOrTable(list: Operation, table: Operation): Operation {
  return (call) => (call.wantsCsv ? table(call) : list(call));
}

/** Streams the table part by part as the client reads it, so that it never has to fit into memory. */
export function tableOperation<Query, T>(
  heavyAnswers: HeavyAnswers,
  parse: InputParser<Query>,
  tableOf: (call: Call, query: Query) => Table<T>,
): Operation {
  return async (call) => {
    const parts = partsOf(tableOf(call, parse(call.input)));
    const text = heavyText(heavyAnswers, call.principal.accountId, parts);
    return { text, mediaType: MEDIA_TYPE, isReplay: false };
  };
}

/** A table that fits into memory. */
export function answerTable<T>(columns: Columns<T>, objects: readonly T[]): Answer {
  return { text: wholeTable(columns, objects), mediaType: MEDIA_TYPE, isReplay: false };
}

async function* wholeTable<T>(columns: Columns<T>, objects: readonly T[]): AsyncGenerator<string> {
  yield [...linesOf([headLine(columns)], objects, columns)].join('');
}

/**
 * The ids of a part are fixed when it is first read: reading it again yields the same lines, even if a payment was
 * made meanwhile.
 */
function* partsOf<T>({ columns, list, read }: Table<T>): Iterable<ReadPart> {
  let startingAfter: string | undefined;
  let isOver = false;

  async function readNext(): Promise<{ ids: string[]; objects: T[] }> {
    const page = await list({ limit: TABLE_PART_ROWS, startingAfter, endingBefore: undefined });
    const [ids = []] = idsWithin(page.data, ANSWER_PART_BYTES, ({ bytes }) => bytes);
    const objects = page.data.slice(0, ids.length).flatMap(({ object }) => object ?? []);
    isOver = ids.length === page.data.length && !page.hasMore;
    startingAfter = ids.at(-1);
    return { ids, objects: objects.length === ids.length ? objects : await read(ids) };
  }

  for (let isFirst = true; !isOver; isFirst = false) {
    let ids: string[] | undefined;
    const head = isFirst ? [headLine(columns)] : [];
    yield async () => {
      if (ids !== undefined) return linesOf(head, await read(ids), columns);
      const next = await readNext();
      ids = next.ids;
      return linesOf(head, next.objects, columns);
    };
  }
}

function* linesOf<T>(head: readonly string[], objects: readonly T[], columns: Columns<T>): Iterable<string> {
  yield* head;
  for (const object of objects) yield csvLine(columns, object);
}
