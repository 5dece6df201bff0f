import { Type } from 'typebox';
import { ListParameters } from '../../input/list-query.js';

export const ListPayments = Type.Object(ListParameters, { additionalProperties: false });
