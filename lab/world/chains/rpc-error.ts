/** A JSON-RPC error answer, with HTTP 200 by default. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly status: number;
  readonly data: unknown;

  constructor(
    code: number,
    message: string,
    { status = 200, data }: { status?: number; data?: unknown } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const LIMIT_EXCEEDED = -32005;
