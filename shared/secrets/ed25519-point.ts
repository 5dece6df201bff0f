/**
 * The curve of Ed25519 (RFC 8032), for public keys that an operator registers: OpenSSL takes any 32 bytes as one, and a
 * signature "of" a point of small order can be made by anyone. Not constant in time, since public keys are no secrets.
 */
const P = 2n ** 255n - 19n;
const D = modulo(-121_665n * inverse(121_666n));
/** A square root of -1. */
const I = power(2n, (P - 1n) / 4n);

type Point = readonly [x: bigint, y: bigint];

/** Why the 32 bytes are no usable public key, or undefined. */
export function whyNoPublicKey(
  bytes: Buffer,
): 'no point of the curve' | 'a point of small order' | undefined {
  const point = decode(bytes);
  if (point === undefined) return 'no point of the curve';
  const [x, y] = double(double(double(point)));
  return x === 0n && y === 1n ? 'a point of small order' : undefined;
}

/** Undefined also for a coordinate that is not below P, and for a negative zero. */
function decode(bytes: Buffer): Point | undefined {
  const littleEndian = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const isOdd = littleEndian >> 255n === 1n;
  const y = littleEndian & (2n ** 255n - 1n);
  if (y >= P) return undefined;
  const x = squareRoot(modulo((y * y - 1n) * inverse(D * y * y + 1n)));
  if (x === undefined || (x === 0n && isOdd)) return undefined;
  return [(x % 2n === 1n) === isOdd ? x : P - x, y];
}

function squareRoot(square: bigint): bigint | undefined {
  const root = power(square, (P + 3n) / 8n);
  return [root, modulo(root * I)].find((candidate) => modulo(candidate * candidate) === square);
}

/** The addition of a point to itself; complete, since D is no square. */
function double([x, y]: Point): Point {
  const product = modulo(D * x * x * y * y);
  return [modulo(2n * x * y * inverse(1n + product)), modulo((y * y + x * x) * inverse(1n - product))];
}

function modulo(value: bigint): bigint {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
}

function inverse(value: bigint): bigint {
  return power(modulo(value), P - 2n);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
