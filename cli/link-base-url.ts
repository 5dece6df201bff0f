import { riskOfLocalLinks } from '../shared/startup/risky-settings.js';
import type { CommandContext } from './command.js';

/** The base URL of links, for a command that prints or writes them. Warns when buyers cannot open that address. */
export function linkBaseUrl({ config, stderr }: Pick<CommandContext, 'config' | 'stderr'>): string {
  const risk = config.production ? riskOfLocalLinks(config.baseUrl) : undefined;
  if (risk !== undefined) stderr.write(`${risk.hint}\n`);
  return config.baseUrl;
}
