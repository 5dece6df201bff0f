/** Why nothing was paid, in one line that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
