/** What may be begun for an account by the process that asks. */
export interface Room {
  places: number;
  /** Of those, for one host. */
  ofHost(host: string): number;
  /** Hosts for which there are none. */
  fullHosts: readonly string[];
  /** A body of more takes several. */
  bytesOfOne: number;
}

/** One place after the other to each endpoint in their order, until there is none left or nobody may have more. */
export function dealPlaces(
  endpoints: readonly { id: string; host: string; most: number }[],
  room: Pick<Room, 'places' | 'ofHost'>,
): Map<string, number> {
  const dealt = new Map(endpoints.map(({ id }) => [id, 0]));
  const leftOf = new Map(endpoints.map(({ host }) => [host, room.ofHost(host)]));
  let left = room.places;
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
