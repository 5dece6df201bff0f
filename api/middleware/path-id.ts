import type { Request } from 'express';
import { noSuch } from '../../shared/domain/errors.js';
import { isIdShaped } from '../../shared/ids.js';

/** The id in the path; what cannot be an id is not looked up. */
export function pathId(req: Request, what: string): string {
  const id = String(req.params.id);
  if (!isIdShaped(id)) throw noSuch(what, id);
  return id;
}
