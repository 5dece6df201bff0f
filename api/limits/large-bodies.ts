import {
  LARGE_BODIES_BYTES,
  LARGE_BODIES_BYTES_PER_ACCOUNT,
  SMALL_BODY_BYTES,
} from '../../shared/limits/bounds.js';

/**
 * How much of large bodies a process has in hand: they are read and worked on, or their answers are being sent. Counted
 * as it comes, so that what was only announced takes nobody's place. An account gets its share at most, however much
 * room there is.
 */
export class LargeBodies {
  #bytes = 0;
  readonly #bytesOf = new Map<string, number>();

  /** For one body, which is given back once. */
  begin(account: string): BodyInFlight {
    let held = 0;
    let isGivenBack = false;
    return {
      hasRoomFor: (length) => length <= SMALL_BODY_BYTES || this.#hasRoomFor(account, length - held),
      growTo: (length) => {
        if (length <= SMALL_BODY_BYTES) return true;
        if (isGivenBack || !this.#hasRoomFor(account, length - held)) return false;
        this.#add(account, length - held);
        held = length;
        return true;
      },
      giveBack: () => {
        isGivenBack = true;
        this.#add(account, -held);
        held = 0;
      },
    };
  }

  /** Of all accounts. */
  get bytesInFlight(): number {
    return this.#bytes;
  }

  #hasRoomFor(account: string, bytes: number): boolean {
    const ofAccount = this.#bytesOf.get(account) ?? 0;
    return this.#bytes + bytes <= LARGE_BODIES_BYTES && ofAccount + bytes <= LARGE_BODIES_BYTES_PER_ACCOUNT;
  }

  #add(account: string, bytes: number): void {
    this.#bytes += bytes;
    const ofAccount = (this.#bytesOf.get(account) ?? 0) + bytes;
    if (ofAccount === 0) this.#bytesOf.delete(account);
    else this.#bytesOf.set(account, ofAccount);
  }
}

export interface BodyInFlight {
  hasRoomFor(length: number): boolean;
  /** False when there is no room for so much: it is to be refused. */
  growTo(length: number): boolean;
  giveBack(): void;
}
