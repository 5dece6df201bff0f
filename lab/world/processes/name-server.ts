import { createSocket } from 'node:dgram';

/** A DNS server in this process for A (1) and AAAA (28) records. It can leave a query unanswered. */
export interface NameServer {
  address: string;
  names: Record<string, Answers | 'silence'>;
  close(): Promise<void>;
}

type Answers = Record<1 | 28, readonly string[]>;

const HEADER_BYTES = 12;
const TTL_SECONDS = 0;
const NO_SUCH_NAME = 3;

export async function startNameServer(names: NameServer['names']): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const answers = names[name];
    if (answers === 'silence') return;
    const records = answers !== undefined && (type === 1 || type === 28) ? answers[type] : [];
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (answers === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const question = query.subarray(HEADER_BYTES, end + 4);
    socket.send(Buffer.concat([header, question, ...records.map((ip) => record(type, ip))]), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    names,
    close: () => new Promise((closed) => socket.close(closed)),
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = query.readUInt8(at);
    at += 1;
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: at };
    labels.push(query.toString('ascii', at, at + length));
    at += length;
  }
}

/** The record's name is a pointer to the name in the question. */
function record(type: number, ip: string): Buffer {
  const data = type === 1 ? Buffer.from(ip.split('.').map(Number)) : ipv6Bytes(ip);
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(TTL_SECONDS, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(ip: string): Buffer {
  const [before = '', after = ''] = ip.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [head, tail] = [groups(before), groups(after)];
  const middle = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...head, ...middle, ...tail].entries()) bytes.writeUInt16BE(group, index * 2);
  return bytes;
}
