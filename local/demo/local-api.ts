/** Calls the merchant API as a merchant's program does, with the demo merchant's key. */
export type LocalApi = (method: 'GET' | 'POST', path: string, body?: object) => Promise<ApiAnswer>;

interface ApiAnswer {
  status: number;
  body: Record<string, unknown>;
}

export function createLocalApi(port: number, key: string): LocalApi {
  return async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
}
