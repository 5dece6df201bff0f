import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';

/** Runs an operator's command in its own process, with a pipe as standard output. */
export async function runPiped(
  argv: readonly string[],
): Promise<{ status: number | null; stdout: Buffer; stderr: string }> {
  await ensureBuilt(projectRoot());
  const environment = { DATABASE_URL: process.env.DATABASE_URL ?? '' };
  const args = ['local/commands/merchants.mjs', ...argv];
  const command = new StartedProcess(nodeProgram(args, { environment }));
  const { code, stderr } = await command.ran();
  return { status: code, stdout: command.bytes(), stderr };
}
