import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** The answer's status, and how long the whole answer took. */
export interface Reply {
  /** 0: the connection broke. */
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  ms: number;
}

export interface RequestOptions {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Reads the answer in small steps, with a pause after each. */
  slowly?: boolean;
  signal?: AbortSignal;
}

/** An external caller's connections to one process of the service. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 });
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Keeps at most 1 MiB of text. */
  send(
    path: string,
    { method = 'GET', headers, body, slowly = false, signal }: RequestOptions = {},
  ): Promise<Reply> {
    const began = performance.now();
    return new Promise((resolve) => {
      const end = (status: number, answered: IncomingHttpHeaders, text: string): void =>
        resolve({ status, headers: answered, text, ms: performance.now() - began });
      const options = { method, agent: this.#agent, headers: { ...this.#headers, ...headers }, signal };
      const sent = request(this.#url + path, options, (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length < KEPT_BYTES) chunks.push(chunk);
          if (!slowly) return;
          response.pause();
          setTimeout(() => response.resume(), SLOW_PAUSE_MS);
        });
        const { statusCode = 0 } = response;
        response.on('error', () => end(0, response.headers, ''));
        response.on('end', () => end(statusCode, response.headers, Buffer.concat(chunks).toString()));
      });
      sent.on('error', () => end(0, {}, ''));
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

const KEPT_BYTES = 1024 * 1024;
const SLOW_PAUSE_MS = 20;
