import { parseArgs } from 'node:util';
import type { Command, Input } from './command.js';
import { COMMON_FLAGS, explainOptions } from './explain-options.js';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface CommandLine {
  name: string;
  command: Command;
  input: Input;
  /** Whether the operator allows a database to be started for the call. */
  local: boolean;
}

/** Undefined when the operator asks for help. */
export function parseCommandLine(
  argv: readonly string[],
  commands: Readonly<Record<string, Command>>,
): CommandLine | undefined {
  const [name, ...rest] = argv.filter((word) => !COMMON_FLAGS.some((flag) => word === `--${flag}`));
  const list = `The commands are: ${Object.keys(commands).join(', ')}.`;
  if (name === undefined || name === 'help' || [name, ...optionsOf(rest)].some(asksForHelp)) {
    if (argv.includes('--json')) throw new UsageError(`--json needs a command, and prints no help. ${list}`);
    return undefined;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`There is no command "${name}". ${list}`);
  return { name, command, input: readInput(name, command, rest), local: argv.includes('--local') };
}

/** The words after -- are no options. */
function optionsOf(words: string[]): string[] {
  return words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
}

function asksForHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

function readInput(name: string, command: Command, words: string[]): Input {
  const usage = `Usage: merchants ${name} ${command.usage}`.trim();
  const options = Object.fromEntries([
    ...(command.options ?? []).map((option) => [option, { type: 'string' as const }] as const),
    ...(command.flags ?? []).map((flag) => [flag, { type: 'boolean' as const }] as const),
  ]);
  const parsed = parseArgs({ args: words, options, allowPositionals: true, strict: false, tokens: true });
  const problem = explainOptions(words, parsed.tokens, command);
  if (problem !== undefined) throw new UsageError(`${problem} ${usage}`);
  const positionals = command.subject === undefined ? [] : [command.subject];
  if (parsed.positionals.length !== positionals.length) throw new UsageError(usage);
  const [subject] = parsed.positionals;
  const values = Object.fromEntries(
    Object.entries(parsed.values).map(([option, value]) => [option, String(value)]),
  );
  const input: Input = {
    ...values,
    ...(command.subject !== undefined && { [command.subject]: subject }),
  };
  for (const required of command.required ?? []) {
    if (input[required] === undefined) throw new UsageError(`--${required} is missing. ${usage}`);
  }
  return input;
}
