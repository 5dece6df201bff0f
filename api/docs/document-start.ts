/** The start of a document for people, up to what is its own in its head. */
export function documentStart(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Stablecoin Checkout: ${title}</title>
<link rel="icon" href="data:,">`;
}
