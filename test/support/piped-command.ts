import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';

/** Runs an operator's command in its own process, with pipes as standard input and output. */
export async function runPiped(
  argv: readonly string[],
  input?: Buffer,
): Promise<{ status: number | null; stdout: Buffer; stderr: string }> {
  await ensureBuilt(projectRoot());
  const environment = { DATABASE_URL: process.env.DATABASE_URL ?? '' };
  const args = ['local/commands/merchants.mjs', ...argv];
  // A guarded process takes the end of its standard input for the end of its parent.
  const program = { command: process.execPath, args, environment };
  const command = new StartedProcess(input === undefined ? nodeProgram(args, { environment }) : program);
  if (input !== undefined) command.child.stdin?.end(input);
  const { code, stderr } = await command.ran();
  return { status: code, stdout: command.bytes(), stderr };
}
