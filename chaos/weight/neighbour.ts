import { setTimeout as sleep } from 'node:timers/promises';
import type { Told } from './client.js';
import type { WeightStage } from './stage.js';

/** What an ordinary merchant and its buyers feel of the others, in milliseconds. */
export type Felt = Record<Act, number[]>;
export type Act = 'create' | 'retrieve' | 'link' | 'webhook';

const SESSIONS = '/v1/checkout/sessions';
const ORDER = JSON.stringify({
  line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }],
});
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Its visitor is within the limit of one address. */
const EVERY_MS = 150;
/** Later than that an event counts as lost. */
const LONGEST_MS = 60_000;

/** Goes on with its trade, one order after the other, until it is told to stop; each is then ended, which is an event. */
export class Neighbour {
  readonly #stage: WeightStage;
  #felt: Felt = newFelt();
  #refused: string[] = [];
  #awaited = new Map<string, number>();
  #heard = 0;
  #isOver = false;
  #trading: Promise<void> = Promise.resolve();

  static async open(stage: WeightStage): Promise<Neighbour> {
    const body = JSON.stringify({ url: stage.receiver.url, enabled_events: ['checkout.session.expired'] });
    const { status, text } = await stage.neighbour.client.ask('/v1/webhook_endpoints', {
      method: 'POST',
      headers: JSON_TYPE,
      body,
    });
    if (status !== 200) throw new Error(`the neighbour got no endpoint: ${text}`);
    const neighbour = new Neighbour(stage);
    neighbour.#trading = neighbour.#trade();
    return neighbour;
  }

  private constructor(stage: WeightStage) {
    this.#stage = stage;
  }

  /** What it felt, and what it was refused, since it was asked before. An event that is late counts as long as it is. */
  take(): { felt: Felt; refused: readonly string[] } {
    this.#hear();
    const now = performance.now();
    const felt = this.#felt;
    for (const since of this.#awaited.values()) if (now - since > LONGEST_MS) felt.webhook.push(now - since);
    const refused = this.#refused;
    this.#felt = newFelt();
    this.#refused = [];
    return { felt, refused };
  }

  /** Its events that were not received by now. */
  get awaited(): number {
    this.#hear();
    return this.#awaited.size;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#trading;
  }

  async #trade(): Promise<void> {
    const { client } = this.#stage.neighbour;
    const visitor = this.#stage.visitor('198.51.100.2');
    while (!this.#isOver) {
      const created = await client.ask(SESSIONS, { method: 'POST', headers: JSON_TYPE, body: ORDER });
      if (this.#note('create', created, 200)) {
        const { id }: { id: string } = JSON.parse(created.text);
        this.#note('retrieve', await client.ask(`${SESSIONS}/${id}`), 200);
        this.#note('link', await visitor.ask(`/c/${id}`), 402);
        const began = performance.now();
        const ended = await client.ask(`${SESSIONS}/${id}/expire`, { method: 'POST' });
        if (ended.status === 200) this.#awaited.set(id, began);
        else this.#refused.push(`expire: ${ended.status}`);
      }
      this.#hear();
      await sleep(EVERY_MS);
    }
  }

  #note(act: Act, { status, ms }: Told, expected: number): boolean {
    this.#felt[act].push(ms);
    if (status !== expected) this.#refused.push(`${act}: ${status}`);
    return status === expected;
  }

  #hear(): void {
    const { got } = this.#stage.receiver;
    for (; this.#heard < got.length; this.#heard += 1) {
      const event = got[this.#heard];
      if (event === undefined) return;
      const { id }: { id: string } = JSON.parse(event.raw).data.object;
      const began = this.#awaited.get(id);
      if (began === undefined) continue;
      this.#awaited.delete(id);
      this.#felt.webhook.push(event.at - began);
    }
  }
}

function newFelt(): Felt {
  return { create: [], retrieve: [], link: [], webhook: [] };
}
