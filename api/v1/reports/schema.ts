import { Type } from 'typebox';
import { strictObject } from '../../input/strict-object.js';

export const LONGEST_DAYS = 366;

const day = (description: string) => Type.String({ description });

export const ListDailyReports = strictObject({
  from: day('The first day, such as 2026-11-01.'),
  to: day(`The last day, such as 2026-11-30: at most ${LONGEST_DAYS} days.`),
  timezone: Type.Optional(
    Type.String({ description: 'Whose days: an IANA name, such as Europe/Berlin. Default UTC.' }),
  ),
});
