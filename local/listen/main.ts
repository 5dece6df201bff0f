import { openEventsApi } from './events-api.js';
import { type FollowTimes, follow } from './follow.js';
import { forwardEvent, secretFor } from './forward.js';
import { Failure, type ListenOptions, parseListenOptions, USAGE } from './options.js';

interface Output {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

interface Listening {
  output?: Output;
  signal: AbortSignal;
  times?: FollowTimes;
}

/** Follows the events until Ctrl-C. */
export async function start(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  // The reader of a pipe has ended.
  process.stdout.on('error', () => stop.abort());
  return await main(argv, { signal: stop.signal });
}

/** Returns the exit status. */
export async function main(
  argv: readonly string[],
  { output = process, signal, times }: Listening,
): Promise<number> {
  try {
    const options = parseListenOptions(argv);
    if (options === undefined) output.stdout.write(USAGE);
    else await listen(options, output, { signal, ...(times && { times }) });
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    output.stderr.write(`${error.message}\n`);
    return 1;
  }
}

async function listen(
  { key, url, forwardTo, types, print }: ListenOptions,
  { stdout, stderr }: Output,
  { signal, times }: Omit<Listening, 'output'>,
): Promise<void> {
  const told = print ? stderr : stdout;
  const say = (line: string): void => void told.write(`${line}\n`);
  const secret = secretFor(key);
  if (forwardTo !== undefined) say(`Signing secret: ${secret}`);
  await follow({
    api: openEventsApi(url, key, signal),
    signal,
    ...(times && { times }),
    onBegin: () =>
      say(`Ready. Events of ${url} ${forwardTo === undefined ? 'are shown' : `go to ${forwardTo}`}.`),
    onUnavailable: (why) => void stderr.write(`${url} does not answer (${why}). Trying again …\n`),
    onAvailable: () => void stderr.write(`${url} answers again.\n`),
    async onEvent({ id, type, created }, text) {
      if (types !== undefined && !types.has(type)) return;
      if (print) stdout.write(`${text}\n`);
      const said = forwardTo === undefined ? undefined : await forwardEvent(forwardTo, secret, id, text);
      if (print && said === undefined) return;
      const subject = subjectOf(text);
      say(`${timeText(created)}  ${type}  ${id}  ${subject}${said === undefined ? '' : `  → ${said}`}`);
    },
  });
}

function subjectOf(text: string): string {
  const { data }: { data: { object: { id: string } } } = JSON.parse(text);
  return data.object.id;
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
