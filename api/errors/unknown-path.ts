import type { RequestHandler } from 'express';
import { Refusal } from '../../shared/domain/errors.js';

export const unknownPath: RequestHandler = (req) => {
  const [path = ''] = req.originalUrl.split('?', 1);
  throw new Refusal(
    'unknown_path',
    `There is nothing at ${req.method} ${path.slice(0, 200)}. Check the path.`,
  );
};
