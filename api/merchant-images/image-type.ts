/**
 * Image formats by their first bytes; the Content-Type of the server is not trusted. SVG is left out: it may hold
 * scripts and load from other servers.
 */
const KINDS: [type: string, matches: (bytes: Buffer) => boolean][] = [
  ['image/png', (bytes) => starts(bytes, '89504e470d0a1a0a')],
  ['image/jpeg', (bytes) => starts(bytes, 'ffd8ff')],
  ['image/gif', (bytes) => /^GIF8[79]a$/.test(text(bytes, 0, 6))],
  ['image/webp', (bytes) => text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 12) === 'WEBP'],
  ['image/avif', (bytes) => text(bytes, 4, 8) === 'ftyp' && /^avi[fs]$/.test(text(bytes, 8, 12))],
];

export function imageType(bytes: Buffer): string | undefined {
  return KINDS.find(([, matches]) => matches(bytes))?.[0];
}

function starts(bytes: Buffer, hex: string): boolean {
  return bytes.subarray(0, hex.length / 2).toString('hex') === hex;
}

function text(bytes: Buffer, from: number, to: number): string {
  return bytes.subarray(from, to).toString('latin1');
}
