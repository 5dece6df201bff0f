/**
 * Name and icon of a wallet come from an arbitrary browser extension. The name is truncated and freed of characters
 * that could reorder or hide text; the icon must be a data URL, so that nothing is loaded from elsewhere.
 */
const MAX_NAME_LENGTH = 32;
const MAX_ICON_LENGTH = 200_000;
const ICON = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;

export function cleanName(name: unknown): string {
  if (typeof name !== 'string') return '?';
  const visible = name.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, '').trim();
  const characters = [...visible];
  const short =
    characters.length > MAX_NAME_LENGTH ? [...characters.slice(0, MAX_NAME_LENGTH - 1), '…'] : characters;
  return short.join('') || '?';
}

export function safeIcon(icon: unknown): string | undefined {
  return typeof icon === 'string' && icon.length <= MAX_ICON_LENGTH && ICON.test(icon.trim())
    ? icon.trim()
    : undefined;
}
