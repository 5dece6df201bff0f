export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** `btoa` takes Latin-1 only, so the JSON is encoded as UTF-8 first. */
export function jsonToBase64(value: object): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(value)));
}
