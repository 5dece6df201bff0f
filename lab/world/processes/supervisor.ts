import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { projectRoot } from '../../../local/toolchain/project-root.js';

/** A program to start. Its environment holds PATH and the given variables only. */
export interface Program {
  command: string;
  args: readonly string[];
  /** The name that is shown with the output; the command by default. */
  name?: string;
  environment?: Record<string, string>;
  /** The project's root by default. */
  cwd?: string;
  user?: { uid?: number; gid?: number };
  /** Runs in a process group of its own, whose id is its pid; signals go to the whole group. */
  group?: boolean;
  /** The file that the output is appended to. The output is kept in memory by default. */
  log?: string;
  /** Opens an IPC channel. */
  ipc?: boolean;
  /** Sends SIGTERM after this time. */
  timeoutMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The result of a command. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

const POLL_MS = 10;
const TAIL_CHARS = 4000;
const ENDED_KEPT = 20;

interface Run {
  child: ChildProcess;
  stdout: Buffer[];
  stderr: Buffer[];
  /** The length of the log file at the start. */
  logFrom: number;
  exited: Promise<Exit>;
}

const running = new Set<StartedProcess>();
const ended = new Set<StartedProcess>();

// A Node process ends with this one even after SIGKILL; other programs have no such preload.
process.on('exit', () => {
  for (const one of running) one.signal('SIGKILL');
});

/** A program and its current run. */
export class StartedProcess {
  readonly name: string;
  readonly #program: Program;
  /** Changes of the program's environment, for its later runs. */
  overrides: Record<string, string> = {};
  #run: Run;

  constructor(program: Program) {
    this.name = program.name ?? path.basename(program.command);
    this.#program = program;
    this.#run = this.#start();
  }

  get child(): ChildProcess {
    return this.#run.child;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return !running.has(this);
  }

  /** Resolves when the process and all processes that share its output have ended. */
  get exited(): Promise<Exit> {
    return this.#run.exited;
  }

  /** Standard output, or the log file since the start. */
  bytes(): Buffer {
    const { log } = this.#program;
    if (log === undefined) return Buffer.concat(this.#run.stdout);
    return existsSync(log) ? readFileSync(log).subarray(this.#run.logFrom) : Buffer.alloc(0);
  }

  printed(): string {
    return this.bytes().toString();
  }

  /** All of standard error. */
  errors(): string {
    return Buffer.concat(this.#run.stderr).toString();
  }

  /** All of standard output and standard error. */
  output(): string {
    return this.printed() + this.errors();
  }

  /** The log, one object per complete line. */
  lines<Line = Record<string, unknown>>(): Line[] {
    const complete = this.printed().split('\n').slice(0, -1);
    return complete.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  }

  /** Resolves with the first log line of these events. */
  async logged(...events: readonly string[]): Promise<Record<string, unknown>> {
    return await this.until(events.join(' or '), () =>
      this.lines().find(({ event }) => events.includes(String(event))),
    );
  }

  /** Resolves with what `find` finds in the output, and in nothing else; rejects when the process ends without it. */
  async until<T>(what: string, find: () => T | undefined): Promise<T> {
    let seen: { run: Run; written: number } | undefined;
    for (;;) {
      const isLast = this.hasEnded;
      const run = this.#run;
      // The output is taken before `find` looks: output that comes later is looked at the next time.
      const written = this.#written();
      if (isLast || run !== seen?.run || written !== seen.written) {
        const found = find();
        if (found !== undefined) return found;
      }
      if (isLast) throw this.#endedBefore(what);
      seen = { run, written };
      await pause(POLL_MS);
    }
  }

  /** Grows with all output: the chunks of the pipes, or the bytes of the log file. */
  #written(): number {
    const { log } = this.#program;
    const { stdout, stderr } = this.#run;
    if (log === undefined) return stdout.length + stderr.length;
    return statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  }

  send(message: object | string): void {
    this.child.send(message, () => {
      // The process has ended: `message` reports it.
    });
  }

  /** Resolves with the next message that is wanted; rejects when the process ends first. */
  message<T>(isWanted: (message: T) => boolean = () => true): Promise<T> {
    const { child, exited } = this.#run;
    return new Promise((resolve, reject) => {
      const read = (message: T): void => {
        if (!isWanted(message)) return;
        child.off('message', read);
        resolve(message);
      };
      child.on('message', read);
      void exited.then(() => reject(this.#endedBefore('its message')));
    });
  }

  /** Resolves with the result when the process has ended. */
  async ran(): Promise<Ran> {
    const { code } = await this.exited;
    return { code, stdout: this.printed(), stderr: this.errors() };
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#program.group !== true) this.child.kill(signal);
    else if (!this.hasEnded && this.pid !== 0) {
      try {
        process.kill(-this.pid, signal);
      } catch {
        // The group has ended, and its output is still being read.
      }
    }
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  async stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return await this.exited;
  }

  /** Starts the program again after it has ended. */
  startAgain(): void {
    this.#run = this.#start();
  }

  #start(): Run {
    const run = spawnProgram({
      ...this.#program,
      environment: { ...this.#program.environment, ...this.overrides },
    });
    running.add(this);
    ended.delete(this);
    const exited = run.exited.then((exit) => {
      running.delete(this);
      ended.add(this);
      const [oldest] = ended;
      if (oldest !== undefined && ended.size > ENDED_KEPT) ended.delete(oldest);
      return exit;
    });
    return { ...run, exited };
  }

  #endedBefore(what: string): Error {
    return new Error(`${this.name} ended before ${what}:\n${this.output()}`);
  }
}

function spawnProgram(program: Program): Run {
  const { command, args, environment, cwd = projectRoot(), user, group, log, ipc, timeoutMs } = program;
  const file = log === undefined ? undefined : openSync(log, 'a');
  const output = file ?? 'pipe';
  const logFrom = file === undefined ? 0 : fstatSync(file).size;
  const child = spawn(command, args, {
    cwd,
    env: { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, ...environment },
    stdio: ['pipe', output, output, ...(ipc === true ? (['ipc'] as const) : [])],
    detached: group === true,
    timeout: timeoutMs,
    ...user,
  });
  if (file !== undefined) closeSync(file);
  const written: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => written[name].push(chunk));
  child.stdin?.on('error', () => {
    // The process has ended: `close` reports it.
  });
  child.once('error', ({ message }) => written.stderr.push(Buffer.from(message)));
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, ...written, logFrom, exited };
}

/** The end of the output of each process that runs or has ended lately, oldest first. */
export function runningOutputs(): { name: string; pid: number; tail: string }[] {
  return [...ended, ...running].map((one) => ({
    name: one.name,
    pid: one.pid,
    tail: `${one.printed().slice(-TAIL_CHARS)}${one.errors().slice(-TAIL_CHARS)}`,
  }));
}

/** Forgets the output of ended processes. */
export function forgetEnded(): void {
  ended.clear();
}

/** Kills every process that still runs. */
export async function killProcesses(): Promise<void> {
  await Promise.all([...running].map((one) => one.kill()));
}

/** Runs a program, which must exit with 0, and returns its standard output. */
export async function runProgram(program: Program): Promise<string> {
  const one = new StartedProcess(program);
  const { code } = await one.exited;
  if (code !== 0) throw new Error(`${one.name} failed:\n${one.output()}`);
  return one.printed();
}
