/** Appends a finding of the test to its title in the report. */
export function addToTitle({ test }: Mocha.Context, text: string): void {
  if (test) test.title += ` (${text})`;
}
