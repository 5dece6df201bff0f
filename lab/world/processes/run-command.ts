import { execFile } from 'node:child_process';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';

/** Runs one of the operator's commands to its end and returns its output. */
export function runCommand(args: string[], environment: Record<string, string>): Promise<string> {
  const options = { cwd: projectRoot(), env: { ...CHILD_ENVIRONMENT, ...environment } };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`node ${args.join(' ')} failed:\n${stderr}`));
    });
  });
}
