import thisProcess, { stdout } from 'node:process';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { PERSONAL_FIELDS } from '../session-fields/fields.js';
import { VERSION } from './version.js';

export type { Logger };

/** Whatever a line calls by these names is not told. */
const HIDDEN = [
  'secret',
  'authorization',
  'password',
  'connectionString',
  'signature',
  'email',
  ...PERSONAL_FIELDS.map(({ property }) => property),
];

/**
 * One JSON line per unit of work on standard output. Lines are built field by field from what may be told, and errors
 * from what `describeError` takes of them; hiding names is the second net.
 */
export function createLogger(
  level: string,
  process: string,
  destination: NodeJS.WritableStream = stdout,
): Logger {
  const told = new Map<string, number>();
  const options: LoggerOptions = {
    level,
    hooks: {
      logMethod(line, log, lineLevel) {
        if (lineLevel >= WARN_LEVEL) count(told, line[0]);
        log.apply(this, line);
      },
    },
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      err: describeError,
      ...Object.fromEntries(HIDDEN.map((name) => [name, () => '[redacted]'])),
    },
  };
  const logger = pino(options, destination === stdout ? standardOutput() : destination);
  troubles.set(logger, told);
  return logger;
}

const troubles = new WeakMap<Logger, ReadonlyMap<string, number>>();

/** How many warnings and errors it has written, by event. */
export function countLoggedProblems(logger: Logger): ReadonlyMap<string, number> {
  return troubles.get(logger) ?? new Map();
}

function count(told: Map<string, number>, line: unknown): void {
  if (typeof line !== 'object' || line === null || !('event' in line)) return;
  const event = String(line.event);
  told.set(event, (told.get(event) ?? 0) + 1);
}

/** The first line of each process. */
export function logStart(logger: Logger): void {
  logger.info({ event: 'service.starting', version: VERSION, node: thisProcess.version });
}

/** A system call for each line is a tenth of a request's time: lines go out many at once, and at the latest after this. */
const WRITTEN_WITHIN_MS = 100;
const BUFFER_BYTES = 8192;
/** Pino's number for it. */
const WARN_LEVEL = 40;
let output: DestinationStream | undefined;

/** What is not well is told at once, whatever becomes of the process. */
function standardOutput(): DestinationStream {
  if (output !== undefined) return output;
  const settings = { dest: stdout.fd, sync: true, minLength: BUFFER_BYTES, periodicFlush: WRITTEN_WITHIN_MS };
  const buffer = pino.destination(settings);
  thisProcess.once('exit', () => buffer.flushSync());
  const destination = {
    // Pino then says of what level a line is.
    [pino.symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string) {
      buffer.write(line);
      if (destination.lastLevel >= WARN_LEVEL) buffer.flushSync();
    },
  };
  output = destination;
  return output;
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
