import type net from 'node:net';
import type { Cut, Hold, Way } from './faults.js';

/** The dials of a proxy that its connections read with each piece of traffic. */
export interface Dials {
  delayMs: number;
  cutNext: Cut | undefined;
}

/** A client's connection and the one to the server behind it. */
export class Connection {
  readonly #dials: Dials;
  readonly #sockets: readonly [near: net.Socket, far: net.Socket];
  readonly #lanes: Record<Way, Lane>;
  #cut: Cut | undefined;

  constructor(near: net.Socket, far: net.Socket, dials: Dials, closed: () => void) {
    this.#dials = dials;
    this.#sockets = [near, far];
    this.#lanes = { up: new Lane(near, far, dials), down: new Lane(far, near, dials) };
    near.on('data', (bytes: Buffer) => this.#carry('up', bytes));
    far.on('data', (bytes: Buffer) => this.#carry('down', bytes));
    for (const socket of this.#sockets) {
      socket.setNoDelay(true);
      socket.once('close', () => {
        if (near.closed && far.closed) closed();
      });
    }
  }

  add(hold: Hold): void {
    if (!hold.includesNext()) return;
    for (const way of hold.ways) this.#lanes[way].add(hold);
  }

  remove(hold: Hold): void {
    for (const lane of Object.values(this.#lanes)) lane.remove(hold);
  }

  cut(): void {
    for (const lane of Object.values(this.#lanes)) lane.forget();
    for (const socket of this.#sockets) socket.destroy();
  }

  #carry(way: Way, bytes: Buffer): void {
    if (way === 'up' && this.#dials.cutNext?.matches(bytes)) {
      this.#cut = this.#dials.cutNext;
      this.#dials.cutNext = undefined;
      void this.#cut.when?.then(() => this.cut());
    }
    const part = this.#cut?.partOf(way, bytes);
    if (part === undefined) this.#lanes[way].carry(bytes);
    else this.#lanes[way].end(part, () => this.cut());
  }
}

interface Piece {
  deliver(): void;
  isDue: boolean;
}

/** A direction of a connection. Pieces, and the end of the connection, arrive in the order in which they were sent. */
class Lane {
  readonly #from: net.Socket;
  readonly #to: net.Socket;
  readonly #dials: Dials;
  readonly #armed = new Set<Hold>();
  readonly #holds = new Set<Hold>();
  #pieces: Piece[] = [];

  constructor(from: net.Socket, to: net.Socket, dials: Dials) {
    this.#from = from;
    this.#to = to;
    this.#dials = dials;
    from.on('end', () => this.#push(() => void to.end()));
    from.on('error', () => undefined); // `close` follows.
    from.once('close', () => this.#push(() => to.destroySoon()));
    to.on('drain', () => from.resume());
  }

  add(hold: Hold): void {
    this.#armed.add(hold);
    this.#begin();
  }

  remove(hold: Hold): void {
    this.#armed.delete(hold);
    this.#holds.delete(hold);
    this.#flush();
  }

  forget(): void {
    this.#armed.clear();
    this.#holds.clear();
    this.#pieces = [];
  }

  carry(bytes: Buffer): void {
    this.#begin(bytes);
    const drops = [...this.#holds].find((hold) => hold.drops);
    if (drops !== undefined) drops.drop(this, bytes);
    else
      this.#push(() => {
        if (!this.#to.write(bytes)) this.#from.pause();
      });
  }

  end(bytes: Buffer, ended: () => void): void {
    this.#push(() => void this.#to.end(bytes, ended));
  }

  #begin(bytes?: Buffer): void {
    for (const hold of this.#armed) {
      if (!hold.beginsWith(bytes)) continue;
      this.#armed.delete(hold);
      this.#holds.add(hold);
    }
  }

  #push(deliver: () => void): void {
    const { delayMs } = this.#dials;
    const piece = { deliver, isDue: delayMs === 0 };
    this.#pieces.push(piece);
    if (!piece.isDue) {
      setTimeout(() => {
        piece.isDue = true;
        this.#flush();
      }, delayMs);
    }
    this.#flush();
  }

  #flush(): void {
    while (this.#pieces[0]?.isDue && ![...this.#holds].some((hold) => !hold.drops)) {
      const piece = this.#pieces.shift();
      if (!this.#to.destroyed) piece?.deliver();
    }
  }
}
