/** The room of an account in one process. */
export interface Room {
  /** How many slots the account may take now. */
  slots: number;
  /** How many of these one host may have. */
  ofHost(host: string): number;
  /** Hosts that may have none. */
  fullHosts: readonly string[];
  /** A larger body takes several slots. */
  bytesPerSlot: number;
}

/** Round robin: one slot after the other to each endpoint in their order, until none is left or no endpoint may have more. */
export function dealSlots(
  endpoints: readonly { id: string; host: string; most: number }[],
  room: Pick<Room, 'slots' | 'ofHost'>,
): Map<string, number> {
  const dealt = new Map(endpoints.map(({ id }) => [id, 0]));
  const leftOf = new Map(endpoints.map(({ host }) => [host, room.ofHost(host)]));
  let left = room.slots;
  for (let before = -1; left > 0 && left !== before; ) {
    before = left;
    for (const { id, host, most } of endpoints) {
      const own = dealt.get(id) ?? 0;
      const ofHost = leftOf.get(host) ?? 0;
      if (left === 0 || ofHost === 0 || own >= most) continue;
      dealt.set(id, own + 1);
      leftOf.set(host, ofHost - 1);
      left -= 1;
    }
  }
  return dealt;
}
