import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { listen } from '../http/listen.js';

/** The Redis commands by which a script reads the time. */
const TIME = "redis.call('TIME')";

/**
 * Stands before a Redis and sets the clock that scripts read: Redis itself follows its host's. Scripts arrive as text with each
 * EVAL, and get another expression in place of their call. Keys expire by the host's clock.
 */
export class RedisClock {
  readonly #server: net.Server;
  readonly #clients = new Set<net.Socket>();
  #aheadMs = 0;

  static async start(redisUrl: string): Promise<RedisClock> {
    const clock = new RedisClock(new URL(redisUrl));
    await listen(clock.#server, 0);
    return clock;
  }

  private constructor({ hostname, port }: URL) {
    this.#server = net.createServer((client) => {
      this.#clients.add(client);
      this.#connect(client, net.connect(Number(port), hostname));
    });
  }

  /** The URL for clients. */
  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the clock ahead of the host's by so much; behind it when the number is negative. */
  set(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  #connect(client: net.Socket, redis: net.Socket): void {
    const rewrite = commandReader((command) => this.#withTime(command));
    client.on('data', (chunk: Buffer) => void redis.write(rewrite(chunk)));
    redis.on('data', (chunk: Buffer) => void client.write(chunk));
    for (const socket of [client, redis]) socket.on('error', () => undefined);
    client.on('close', () => {
      this.#clients.delete(client);
      redis.destroy();
    });
    redis.on('close', () => client.destroy());
  }

  #withTime(command: Buffer[]): Buffer[] {
    const [name, script, ...rest] = command;
    if (this.#aheadMs === 0 || name === undefined || script === undefined) return command;
    if (name.toString().toLowerCase() !== 'eval' || !script.includes(TIME)) return command;
    const seconds = Math.round(this.#aheadMs / 1000);
    const moved = `(function() local t = ${TIME} return {t[1] + ${seconds}, t[2]} end)()`;
    return [name, Buffer.from(script.toString().replaceAll(TIME, moved)), ...rest];
  }
}

/** Cuts a stream of commands into commands, and joins what the function makes of them. The end of a chunk waits for the next. */
function commandReader(change: (command: Buffer[]) => Buffer[]): (chunk: Buffer) => Buffer {
  let left: Buffer = Buffer.alloc(0);
  return (chunk) => {
    left = Buffer.concat([left, chunk]);
    const out: Buffer[] = [];
    for (let read = readCommand(left); read !== undefined; read = readCommand(left)) {
      out.push(encode(change(read.command)));
      left = left.subarray(read.length);
    }
    return Buffer.concat(out);
  };
}

/** An array of strings, as every client sends it. Undefined while its end has not arrived. */
function readCommand(bytes: Buffer): { command: Buffer[]; length: number } | undefined {
  const count = readLine(bytes, 0);
  if (count === undefined) return undefined;
  if (bytes[0] !== '*'.charCodeAt(0)) throw new Error('a client sends something other than a command');
  const command: Buffer[] = [];
  let at = count.end;
  for (let left = Number(count.text); left > 0; left -= 1) {
    const length = readLine(bytes, at);
    if (length === undefined) return undefined;
    const end = length.end + Number(length.text);
    if (bytes.length < end + 2) return undefined;
    command.push(bytes.subarray(length.end, end));
    at = end + 2;
  }
  return { command, length: at };
}

/** The line without its first character, which tells its kind. */
function readLine(bytes: Buffer, from: number): { text: string; end: number } | undefined {
  const end = bytes.indexOf('\r\n', from);
  return end < 0 ? undefined : { text: bytes.toString('latin1', from + 1, end), end: end + 2 };
}

function encode(command: readonly Buffer[]): Buffer {
  const parts = command.flatMap((one) => [Buffer.from(`$${one.length}\r\n`), one, Buffer.from('\r\n')]);
  return Buffer.concat([Buffer.from(`*${command.length}\r\n`), ...parts]);
}
