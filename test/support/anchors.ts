/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(page: string): string[] {
  const text = page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
