import path from 'node:path';
import { type MochaOptions, Runner, reporters } from 'mocha';
import { nowMs } from '../../shared/process/clock.js';

/** Files that took longer are named at the end, the slowest first. */
const SLOWEST = 10;

interface FileRun {
  file: string;
  passed: number;
  failed: Failure[];
  skipped: number;
  /** The durations of its stories and hooks. */
  ms: number;
}

interface Failure {
  title: string;
  error: FailedWith;
}

/** `processLogs` is added by the suite's hooks (test/support/suite.ts). */
type FailedWith = Error & { processLogs?: string };

type Runnable = Mocha.Test | Mocha.Hook;

/**
 * Prints a line for each finished spec file, its failures at once, and mocha's own summary at the end. A process of
 * mocha's reports all events of a file together, when the file has ended.
 */
class ProgressReporter extends reporters.Base {
  readonly #files: number;
  readonly #startedAt = nowMs();
  readonly #done: FileRun[] = [];
  #current: FileRun | undefined;

  constructor(runner: Mocha.Runner, options: MochaOptions) {
    super(runner, options);
    this.#files = Number(options.reporterOptions?.files ?? 0);
    const { constants } = Runner;
    runner.on(constants.EVENT_TEST_PASS, (test: Mocha.Test) => {
      this.#runOf(test).passed += 1;
    });
    runner.on(constants.EVENT_TEST_PENDING, (test: Mocha.Test) => {
      this.#runOf(test).skipped += 1;
    });
    runner.on(constants.EVENT_TEST_FAIL, (runnable: Runnable, error: FailedWith) => {
      this.#runOf(runnable).failed.push({ title: runnable.titlePath().join(' › '), error });
    });
    for (const event of [constants.EVENT_TEST_END, constants.EVENT_HOOK_END])
      runner.on(event, (runnable: Runnable) => {
        // The suite's own hooks belong to no file.
        if (runnable.file !== undefined) this.#runOf(runnable).ms += runnable.duration ?? 0;
      });
    runner.once(constants.EVENT_RUN_END, () => {
      this.#endFile();
      this.#printSlowest();
      this.epilogue();
    });
  }

  /** The events of one file arrive in one turn of the event loop. */
  #runOf(runnable: Runnable): FileRun {
    const file = path.relative('.', runnable.file ?? '');
    if (this.#current !== undefined && (this.#current.file === file || file === '')) return this.#current;
    this.#endFile();
    this.#current = { file, passed: 0, failed: [], skipped: 0, ms: 0 };
    setImmediate(() => this.#endFile());
    return this.#current;
  }

  #endFile(): void {
    if (this.#current === undefined) return;
    const run = this.#current;
    this.#current = undefined;
    this.#done.push(run);
    const { color, symbols } = reporters.Base;
    const isOk = run.failed.length === 0;
    const mark = isOk ? color('checkmark', symbols.ok) : color('fail', symbols.err);
    const counts = [
      `${run.passed} passed`,
      ...(isOk ? [] : [color('fail', `${run.failed.length} failed`)]),
      ...(run.skipped === 0 ? [] : [color('pending', `${run.skipped} skipped`)]),
    ];
    const position = `${this.#done.length}/${this.#files}`.padStart(7);
    print(
      `${position} ${clock(nowMs() - this.#startedAt)} ${mark} ${run.file}  ${counts.join(', ')}, ${seconds(run.ms)}`,
    );
    for (const failure of run.failed) printFailure(failure);
  }

  #printSlowest(): void {
    const slowest = this.#done.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
    print(`\n  The slowest files:`);
    for (const { file, ms } of slowest) print(`  ${seconds(ms).padStart(8)}  ${file}`);
  }
}

function printFailure({ title, error }: Failure): void {
  print(`\n  ${reporters.Base.color('fail', `Failed: ${title}`)}`);
  print(indent(error.stack ?? error.message));
  if (error.processLogs !== undefined) print(indent(error.processLogs));
  print('');
}

/** Minutes and seconds since the start. */
function clock(ms: number): string {
  const total = Math.floor(ms / 1000);
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, '0')}`.padStart(6);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

// Mocha finds a reporter by its name once a module that it loads with `--require` has added it.
Object.assign(reporters, { files: ProgressReporter });
