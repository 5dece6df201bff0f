import path from 'node:path';
import { ensureBuilt } from '../../../local/build/ensure-built.mjs';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { type Exit, type Program, type Ran, runProgram, StartedProcess } from './supervisor.js';

export { killProcesses } from './supervisor.js';

/** A web or worker process, built and started as in production. */
export type ServiceProcess = StartedProcess;

export interface WebServiceProcess extends ServiceProcess {
  port: number;
}

export type EntryPoint = 'api/server' | 'workers/main' | 'shared/migrate';

const ENTRIES = { web: 'api/server', worker: 'workers/main' } as const;
/** The log event of a process that is ready. */
export const READY = ['web.listening', 'worker.started'];
export type Kind = keyof typeof ENTRIES;

/**
 * Ends a Node process when its standard input does, which is a pipe from its parent. Without quotes and spaces, which
 * NODE_OPTIONS would interpret.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  'process.stdin.resume().once("close",()=>process.kill(process.pid,"SIGKILL")).unref()',
)}`;
/** Keeps npm from checking for updates and writing logs. */
const NPM = { npm_config_update_notifier: 'false', npm_config_logs_max: '0' };

let built: Promise<void> | undefined;

export function nodeProgram(args: readonly string[], options: Partial<Program> = {}): Program {
  const name = path.basename(args.find((arg) => /\.m?[jt]s$/.test(arg)) ?? 'node');
  return { name, ...options, command: process.execPath, args: ['--import', END_WITH_PARENT, ...args] };
}

/** `npm` starts the process as hosting platforms do; both are in a process group of their own. */
export function serviceProgram(
  kind: Kind,
  launcher: 'node' | 'npm',
  environment: Record<string, string>,
): Program {
  if (launcher === 'node') return nodeProgram([`dist/${ENTRIES[kind]}.js`], { name: kind, environment });
  const options = `--import=${END_WITH_PARENT} ${environment.NODE_OPTIONS ?? ''}`;
  const variables = { ...NPM, ...environment, NODE_OPTIONS: options };
  return { name: kind, command: 'npm', args: ['run', kind], environment: variables, group: true };
}

/** Starts a process whose environment holds only these variables. */
export async function startProcess(
  entry: EntryPoint,
  environment: Record<string, string>,
): Promise<ServiceProcess> {
  await builtOnce();
  return new StartedProcess(nodeProgram([`dist/${entry}.js`], { name: entry, environment }));
}

export async function startWebProcess(environment: Record<string, string>): Promise<WebServiceProcess> {
  return await startService('web', 'node', environment);
}

export async function startWorkerProcess(environment: Record<string, string>): Promise<ServiceProcess> {
  return await startService('worker', 'node', environment);
}

/** Resolves when the process is ready. */
export async function startService(
  kind: Kind,
  launcher: 'node' | 'npm',
  environment: Record<string, string>,
): Promise<WebServiceProcess> {
  await builtOnce();
  const settings = { PORT: '0', LOG_LEVEL: 'info', ...environment };
  const service = new StartedProcess(serviceProgram(kind, launcher, settings));
  const { port } = await service.logged(...READY);
  return Object.assign(service, { port: Number(port) });
}

/** Ends a service and starts it again; resolves when it is ready. `ms` is how long it took to end. */
export async function restart(
  service: ServiceProcess,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<Exit & { ms: number }> {
  const sentAt = performance.now();
  service.signal(signal);
  const exit = await service.exited;
  const ms = performance.now() - sentAt;
  service.startAgain();
  await service.logged(...READY);
  return { ...exit, ms };
}

/** Runs a built file, or one of the project's commands, to its end. */
export async function runNode(args: readonly string[], options: Partial<Program> = {}): Promise<Ran> {
  await builtOnce();
  return await new StartedProcess(nodeProgram(args, options)).ran();
}

/** Runs a command, which must exit with 0, and returns its standard output. */
export async function runCommand(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<string> {
  await builtOnce();
  return await runProgram(nodeProgram(args, { environment }));
}

function builtOnce(): Promise<void> {
  built ??= ensureBuilt(projectRoot());
  return built;
}
