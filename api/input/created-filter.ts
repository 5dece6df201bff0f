import { type Static, Type } from 'typebox';
import type { IdRange } from '../../shared/db/listing.js';
import { type IdPrefix, lowestIdAt } from '../../shared/values/ids.js';
import { strictObject } from './strict-object.js';

export const UnixSeconds = (description: string) =>
  Type.Integer({ minimum: -99_999_999_999, maximum: 99_999_999_999, description });

const CreatedBounds = strictObject({
  gte: Type.Optional(UnixSeconds('At this time or later.')),
  gt: Type.Optional(UnixSeconds('Later than this.')),
  lte: Type.Optional(UnixSeconds('At this time or earlier.')),
  lt: Type.Optional(UnixSeconds('Earlier than this.')),
});

/** The list parameter `created`. */
export const CreatedFilter = Type.Optional(
  Type.Union([UnixSeconds('Created in this second.'), CreatedBounds]),
);

/** Converts seconds to a range of ids, which hold their creation time in milliseconds. */
export function createdRange(
  created: number | Static<typeof CreatedBounds> | undefined,
  prefix: IdPrefix,
): IdRange {
  if (created === undefined) return { lowestId: undefined, belowId: undefined };
  const { gte, gt, lte, lt } = typeof created === 'number' ? { gte: created, lte: created } : created;
  const from = Math.max(gte ?? -Infinity, gt === undefined ? -Infinity : gt + 1);
  const below = Math.min(lt ?? Infinity, lte === undefined ? Infinity : lte + 1);
  const idAt = (seconds: number): string | undefined =>
    Number.isFinite(seconds) ? lowestIdAt(prefix, seconds * 1000) : undefined;
  return { lowestId: idAt(from), belowId: idAt(below) };
}
