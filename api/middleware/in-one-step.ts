import type { Request, RequestHandler, Response } from 'express';

/** Sets something, and lets every request go on. */
export type Step = (req: Request, res: Response) => void;

/** Express looks at each layer, and builds a way out of it, for every request: those that always go on share one. */
export function inOneStep(...steps: readonly Step[]): RequestHandler {
  return (req, res, next) => {
    for (const step of steps) step(req, res);
    next();
  };
}
