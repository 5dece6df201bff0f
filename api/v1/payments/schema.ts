import { Type } from 'typebox';
import { CreatedFilter } from '../../input/created-filter.js';
import { ListParameters } from '../../input/list-query.js';

const Filters = { created: CreatedFilter };

export const ListPayments = Type.Object({ ...ListParameters, ...Filters }, { additionalProperties: false });

/** A CSV export contains the complete list and takes no cursor. */
export const TablePayments = Type.Object(Filters, { additionalProperties: false });
