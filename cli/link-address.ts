import { riskOfLocalLinks } from '../shared/startup/risky-settings.js';
import type { CommandContext } from './command.js';

/** Where links start, for a command that prints or writes them. One line says when buyers cannot open that address. */
export function addressOfLinks({ config, stderr }: Pick<CommandContext, 'config' | 'stderr'>): string {
  const risk = config.production ? riskOfLocalLinks(config.baseUrl) : undefined;
  if (risk !== undefined) stderr.write(`${risk.hint}\n`);
  return config.baseUrl;
}
