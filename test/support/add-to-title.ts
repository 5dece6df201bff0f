/** What a test has found out, for whoever reads the report. */
export function addToTitle({ test }: Mocha.Context, text: string): void {
  if (test) test.title += ` (${text})`;
}
