import type { Request, RequestHandler, Response } from 'express';

/** Middleware that never ends a request. */
export type Preparation = (req: Request, res: Response) => void;

/** Runs all of them in one layer: Express matches each layer and builds a `next` for it on every request. */
export function inOneLayer(...preparations: readonly Preparation[]): RequestHandler {
  return (req, res, next) => {
    for (const prepare of preparations) prepare(req, res);
    next();
  };
}
