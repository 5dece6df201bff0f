const UNIQUE_VIOLATION = '23505';

/** Whether a statement failed because a row with this unique value exists; `constraint` is its index's name. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint' in error &&
    error.constraint === constraint
  );
}
