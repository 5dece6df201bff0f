import { Writable } from 'node:stream';
import { createLogger, type Logger } from '../../shared/process/logger.js';

export interface LoggerWithLines<Line> {
  logger: Logger;
  /** The lines that the logger has written. */
  lines: Line[];
}

export function loggerWithLines<Line = Record<string, unknown>>(
  level: Parameters<typeof createLogger>[0] = 'info',
): LoggerWithLines<Line> {
  const lines: Line[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { logger: createLogger(level, 'test', sink), lines };
}
