/** So many bytes in hand at once, and no holder more than its part of them. */
export interface ByteBudget {
  /** How to give them back, once; undefined when there are not so many left. */
  take(holder: string, bytes: number): (() => void) | undefined;
}

export function openByteBudget({ total, perHolder }: { total: number; perHolder: number }): ByteBudget {
  const heldBy = new Map<string, number>();
  let held = 0;

  function change(holder: string, bytes: number): void {
    held += bytes;
    const left = (heldBy.get(holder) ?? 0) + bytes;
    if (left === 0) heldBy.delete(holder);
    else heldBy.set(holder, left);
  }

  return {
    take(holder, bytes) {
      if (held + bytes > total || (heldBy.get(holder) ?? 0) + bytes > perHolder) return undefined;
      change(holder, bytes);
      let isHeld = true;
      return () => {
        if (isHeld) change(holder, -bytes);
        isHeld = false;
      };
    },
  };
}
