import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** The load tool for both sides of every comparison: wrk, with one thread. */
export interface Load {
  url: string;
  requests: readonly PreparedRequest[];
  connections: number;
  seconds: number;
  /** Whether all answers must be successes, as by default, or all refusals (402). */
  expects?: 'success' | 'refusal';
  /** Sends each request at most once. There must be more requests than the server answers in that time. */
  once?: boolean;
}

export interface PreparedRequest {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Measured {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The number of requests sent. */
  sent: number;
}

interface WrkReport {
  requests: number;
  seconds: number;
  sent: number;
  refused: number;
  broken: number;
  p50: number;
  p99: number;
}

const SCRIPT = path.join(import.meta.dirname, 'send.lua');
let runs = 0;

export async function runLoad(load: Load): Promise<Measured> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-load-'));
  try {
    const file = path.join(folder, 'requests');
    await writeFile(file, load.requests.map(render).join(''));
    runs += 1;
    const args = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '20s', '-s', SCRIPT];
    const run = `${process.pid}-${runs}`;
    const { stdout } = await promisify(execFile)('wrk', [...args, load.url, '--', file, run]);
    return read(JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)), load, stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function read(report: WrkReport, load: Load, output: string): Measured {
  const { requests, seconds, sent, refused, broken, p50, p99 } = report;
  const asExpected = load.expects === 'refusal' ? refused === requests : refused === 0;
  if (requests === 0 || broken > 0 || !asExpected) throw new Error(`${load.url}: not as expected\n${output}`);
  if (load.once && sent > load.requests.length) throw new Error(`${load.url}: ran out of requests`);
  return { perSecond: requests / seconds, p50Ms: p50, p99Ms: p99, sent };
}

/** The request's length, and the request in HTTP/1.1. */
function render({ method = 'GET', path: target, headers = {}, body }: PreparedRequest): string {
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...headers,
    ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
  return `${Buffer.byteLength(text)}\n${text}`;
}
