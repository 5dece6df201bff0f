import thisProcess, { stdout } from 'node:process';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { PERSONAL_FIELDS } from '../session-fields/fields.js';
import { LogOutput } from './log-output.js';
import { VERSION } from './version.js';

export type { Logger };

/** Fields of these names are logged as `[redacted]`. */
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
 * One JSON line per unit of work on standard output. Callers choose each field, and `describeError` chooses an error's;
 * redaction by field name is the second line of defence.
 */
export function createLogger(
  level: string,
  process: string,
  destination: DestinationStream = stdout,
): Logger {
  const counts = new Map<string, number>();
  const options: LoggerOptions = {
    level,
    hooks: {
      logMethod(line, log, lineLevel) {
        if (lineLevel >= WARN_LEVEL) countProblem(counts, line[0]);
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
  const own = destination === stdout ? standardOutput() : undefined;
  const logger = pino(options, own ?? destination);
  if (own !== undefined) own.output.onDropped = (lines) => logger.warn({ event: 'log.lines_dropped', lines });
  problemCounts.set(logger, counts);
  return logger;
}

const problemCounts = new WeakMap<Logger, ReadonlyMap<string, number>>();

/** How many warnings and errors the logger has written, by event. */
export function countLoggedProblems(logger: Logger): ReadonlyMap<string, number> {
  return problemCounts.get(logger) ?? new Map();
}

function countProblem(counts: Map<string, number>, line: unknown): void {
  if (typeof line !== 'object' || line === null || !('event' in line)) return;
  const event = String(line.event);
  counts.set(event, (counts.get(event) ?? 0) + 1);
}

/** Writes the first line of a process. */
export function logStart(logger: Logger): void {
  logger.info({ event: 'service.starting', version: VERSION, node: thisProcess.version });
}

/** Pino's number for `warn`. */
const WARN_LEVEL = 40;
let output: LogOutput | undefined;

/** Warnings and errors are flushed at once, in case the process crashes. */
function standardOutput(): DestinationStream & { output: LogOutput } {
  output ??= openOutput();
  const opened = output;
  const destination = {
    output: opened,
    // Makes pino set `lastLevel` before each write.
    [pino.symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string) {
      opened.write(line);
      if (destination.lastLevel >= WARN_LEVEL) opened.flush();
    },
  };
  return destination;
}

function openOutput(): LogOutput {
  const opened = new LogOutput(stdout.fd);
  thisProcess.once('exit', () => opened.flushLast());
  return opened;
}

/** Name, message, code and stack only: drivers attach rows and connection strings with passwords to their errors. */
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
