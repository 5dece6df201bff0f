import { stdout } from 'node:process';
import { type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

/**
 * One JSON line per unit of work on standard output. Lines are built field by field from what may be told;
 * redaction is the second net, for objects that libraries attach to errors.
 */
export function createLogger(
  level: string,
  process: string,
  destination: NodeJS.WritableStream = stdout,
): Logger {
  const options: LoggerOptions = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    redact: {
      paths: [
        'secret',
        'authorization',
        'password',
        'connectionString',
        '*.secret',
        '*.authorization',
        '*.password',
      ],
      censor: '[redacted]',
    },
  };
  // Standard output goes through pino's own fast path.
  return destination === stdout ? pino(options) : pino(options, destination);
}

/** Name, message, code and stack. Drivers hang more on their errors, down to rows and addresses with passwords. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && { code: error.code }),
    stack: error.stack,
    ...(error.cause instanceof Error && { cause: error.cause.message }),
  };
}
