import { connect, type Socket } from 'node:net';

/** A response as received, with lower-case header names. */
export interface RawAnswer {
  /** 0 when the connection ended without a response. */
  status: number;
  headers: ReadonlyMap<string, string>;
  text: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** Far longer than any response takes. */
const HUNG_MS = 20_000;

/** Keep-alive connections that send bytes unchanged, even invalid HTTP. */
export class RawClient {
  readonly #port: number;
  readonly #idle: Socket[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  async send(bytes: Buffer, { hasBody }: { hasBody: boolean }): Promise<RawAnswer> {
    const socket = this.#idle.pop() ?? connect(this.#port, '127.0.0.1');
    const answer = await new Promise<RawAnswer>((resolve, reject) => {
      let received = Buffer.alloc(0);
      const end = (found: RawAnswer): void => {
        socket.removeAllListeners();
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`not answered in ${HUNG_MS} ms: ${bytes.toString('latin1').slice(0, 2000)}`));
      }, HUNG_MS);
      const closed = (): void => end({ ...(readAnswer(received, false) ?? NO_ANSWER) });
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const found = readAnswer(received, hasBody);
        if (found !== undefined) end(found);
      });
      socket.on('error', closed).on('close', closed);
      socket.write(bytes);
    });
    socket.on('error', () => socket.destroy());
    if (answer.headers.get('connection') === 'keep-alive' && !socket.destroyed) this.#idle.push(socket);
    else socket.destroy();
    return answer;
  }

  close(): void {
    for (const socket of this.#idle.splice(0)) socket.destroy();
  }
}

const NO_ANSWER: RawAnswer = { status: 0, headers: new Map(), text: '' };

/** Returns undefined while the answer is incomplete. Every response of the service has a Content-Length. */
function readAnswer(bytes: Buffer, hasBody: boolean): RawAnswer | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const status = Number(first.split(' ')[1]);
  const length = hasBody && status !== 204 ? Number(headers.get('content-length') ?? 0) : 0;
  const body = bytes.subarray(headEnd + HEAD_END.length);
  return body.length < length ? undefined : { status, headers, text: body.toString('utf8', 0, length) };
}
