import { type Static, Type } from 'typebox';
import { NETWORKS, TOKEN_SYMBOLS } from '../../../shared/chains/networks/networks.js';
import { PAYMENT_STATUSES } from '../../../shared/payments/states.js';
import { CreatedFilter } from '../../input/created-filter.js';
import { ListParameters } from '../../input/list-query.js';
import { strictObject } from '../../input/strict-object.js';

/** Longer than the transactions and the addresses of every network. */
const MAX_LENGTH = 128;

const Filters = {
  status: Type.Optional(
    Type.Enum([...PAYMENT_STATUSES], {
      default: 'succeeded',
      description: 'Those that succeeded, are being confirmed (`processing`), or failed.',
    }),
  ),
  created: CreatedFilter,
  transaction: Type.Optional(
    Type.String({ maxLength: MAX_LENGTH, description: 'Those of this transaction; hex in any case.' }),
  ),
  payer: Type.Optional(
    Type.String({ maxLength: MAX_LENGTH, description: 'Those of this wallet; hex in any case.' }),
  ),
  token: Type.Optional(Type.Enum([...TOKEN_SYMBOLS])),
  network: Type.Optional(Type.Enum(NETWORKS.map(({ caip2 }) => caip2))),
  checkout_session: Type.Optional(
    Type.String({ maxLength: MAX_LENGTH, description: 'That of this session, by its id.' }),
  ),
};

export const ListPayments = strictObject({ ...ListParameters, ...Filters });

/** A CSV export contains the complete list and takes no cursor. */
export const TablePayments = strictObject(Filters);
export type TablePayments = Static<typeof TablePayments>;
