import type { Page } from '../../../shared/db/listing.js';
import type { Sized } from '../../../shared/db/sized-columns.js';
import { ANSWER_PART_BYTES } from '../../../shared/limits/bounds.js';
import { idsWithin } from '../../../shared/values/in-groups.js';
import { presentList, renderObjects, textOfList } from '../../../shared/wire/list.js';
import type { HeavyAnswers } from '../../limits/heavy-answers.js';
import { heavyText, type ReadPart } from './heavy-text.js';
import type { Call } from './operation.js';

type ListAnswer<T> = {
  url: string;
  /** Returns the full objects in the order of `ids`. */
  read(ids: readonly string[]): Promise<T[]>;
} & (Presented<T> | Rendered<T>);

interface Presented<T> {
  present(object: T): object;
  /** Renders in pieces, for objects that may be large. */
  render?(object: T): Iterable<string>;
}

/** The rendering of objects that are stored as text and served unchanged. */
interface Rendered<T> {
  present?: undefined;
  render(object: T): Iterable<string>;
}

/**
 * Returns the list as an object. When some objects of the page are large it returns text instead, which is read in
 * parts.
 */
export function answerList<T>(
  heavyAnswers: HeavyAnswers,
  { principal }: Call,
  { data, hasMore }: Page<Sized<T>>,
  answer: ListAnswer<T>,
): object | string | AsyncIterable<string> {
  const { url, read, present } = answer;
  const render = rendererOf(answer);
  const objects = data.flatMap(({ object }) => object ?? []);
  if (objects.length === data.length) {
    if (present !== undefined) return presentList(url, objects.map(present), hasMore);
    return [...renderObjects(objects.map(render), textOfList(url, hasMore))].join('');
  }

  const { before, between, after } = textOfList(url, hasMore);
  const parts = idsWithin(data, ANSWER_PART_BYTES, ({ bytes }) => bytes);
  const readPart = (ids: readonly string[], index: number): ReadPart => {
    const isLast = index === parts.length - 1;
    const around = { before: index === 0 ? before : between, between, after: isLast ? after : '' };
    return async () => renderObjects((await read(ids)).map(render), around);
  };
  return heavyText(heavyAnswers, principal.accountId, parts.map(readPart));
}

function rendererOf<T>(answer: Presented<T> | Rendered<T>): (object: T) => Iterable<string> {
  if (answer.present === undefined) return answer.render;
  const { present, render = (object) => [JSON.stringify(present(object))] } = answer;
  return render;
}
