import type { OperatorAction } from '../models/operator-action.js';
import { unixSeconds } from './timestamp.js';

export function presentOperatorAction(action: OperatorAction): object {
  return {
    object: 'operator_action',
    id: action.id,
    who: action.who,
    what: action.what,
    about: action.about,
    arguments: action.arguments,
    created: unixSeconds(action.at),
  };
}
