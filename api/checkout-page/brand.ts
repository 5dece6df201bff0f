type Rgb = readonly [red: number, green: number, blue: number];

interface Theme {
  /** The surfaces in page.css, of which the page's is tinted with the colour. */
  page: Rgb;
  surface: Rgb;
  shiftTowards: Rgb;
  /** How much of the page's surface stays. */
  plain: number;
}

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
const LIGHT: Theme = { page: [246, 247, 249], surface: WHITE, shiftTowards: BLACK, plain: 0.94 };
const DARK: Theme = { page: [17, 19, 22], surface: [27, 29, 33], shiftTowards: WHITE, plain: 0.92 };
const TEXT_CONTRAST = 4.5;
const EDGE_CONTRAST = 3;
const STEPS = 50;

/**
 * The style sheet for a merchant's colour, in which the page stays readable; undefined when the colour is not `#rrggbb`.
 * Buttons use the colour itself with black or white text, whichever has more contrast (always at least 4.58:1). Borders and
 * text in the colour are shifted towards black or white until they have the contrast that WCAG requires (3:1 and 4.5:1),
 * for the light and the dark theme.
 */
export function brandStyles(color: string): string | undefined {
  const brand = parseColor(color);
  if (brand === undefined) return undefined;
  return `:root{${variables(brand, LIGHT)}}@media (prefers-color-scheme:dark){:root{${variables(brand, DARK)}}}@media print{:root{${variables(brand, LIGHT)};--page:#fff}}`;
}

function variables(brand: Rgb, theme: Theme): string {
  const edge = standOut(brand, theme, EDGE_CONTRAST);
  const on = contrast(brand, WHITE) >= contrast(brand, BLACK) ? WHITE : BLACK;
  const text = standOut(brand, theme, TEXT_CONTRAST);
  return `--page:${hex(mix(brand, theme.page, theme.plain))};--brand:${hex(brand)};--brand-edge:${hex(edge)};--on-brand:${hex(on)};--accent:${hex(text)}`;
}

function standOut(color: Rgb, { page, surface, shiftTowards, plain }: Theme, wanted: number): Rgb {
  const grounds = [mix(color, page, plain), surface];
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(color, shiftTowards, step / STEPS);
    if (grounds.every((ground) => contrast(mixed, ground) >= wanted)) return mixed;
  }
  return shiftTowards;
}

export function contrast(one: Rgb, other: Rgb): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const channel = (index: 0 | 1 | 2): number => Math.round(from[index] + (to[index] - from[index]) * share);
  return [channel(0), channel(1), channel(2)];
}

export function parseColor(text: string): Rgb | undefined {
  const [, red, green, blue] = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text) ?? [];
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

function hex(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
