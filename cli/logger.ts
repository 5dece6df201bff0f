import { createLogger, type Logger } from '../shared/process/logger.js';
import type { CommandContext } from './command.js';

/** Standard output is for the answer, so the log goes to standard error. */
export function commandLogger({ stderr }: Pick<CommandContext, 'stderr'>): Logger {
  return createLogger('warn', 'cli', { write: (line) => void stderr.write(line) });
}
