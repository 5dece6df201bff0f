import { gzipSync } from 'node:zlib';
import { type Random, seededRandom } from '../../../lab/world/chance/seeded-random.js';
import { formText } from '../api-client.js';
import { MARK } from '../fuzz/hostile-values.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../orders.js';
import type { Sent } from './client.js';
import { HOOK_URL, KEYS } from './order.js';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Valid requests with one to three damages. The same seed gives the same requests. */
export class DamagedRequests {
  made = 0;
  private readonly random: Random;
  private readonly keys: readonly string[];
  private readonly ids: string[];

  constructor(seed: number, keys: readonly string[], ids: readonly string[]) {
    this.random = seededRandom(seed);
    this.keys = keys;
    this.ids = [...ids];
  }

  addId(id: string): void {
    this.ids.push(id);
  }

  next(): Sent {
    this.made += 1;
    const { method, path, body } = this.pick<() => { method: string; path: string; body?: Json }>([
      () => ({ method: 'POST', path: SESSIONS, body: this.session() }),
      () => ({ method: 'POST', path: SESSIONS, body: this.session() }),
      () => ({ method: 'POST', path: SESSIONS, body: this.session() }),
      () => ({ method: 'POST', path: ENDPOINTS, body: this.endpoint() }),
      () => ({ method: 'POST', path: `${ENDPOINTS}/${this.id()}`, body: this.endpoint() }),
      () => ({ method: 'POST', path: `${SESSIONS}/${this.id()}/expire`, body: {} }),
      () => ({ method: 'POST', path: KEYS, body: { livemode: this.chance(0.5), name: this.text() } }),
      () => ({ method: 'GET', path: `${SESSIONS}?${this.query()}` }),
      () => ({ method: 'GET', path: `${SESSIONS}/${this.id()}?${this.query()}` }),
      () => ({ method: 'GET', path: `${SESSIONS}/${this.id()}/line_items?${this.query()}` }),
      () => ({ method: 'GET', path: `${PAYMENTS}?${this.query()}` }),
      () => ({ method: 'GET', path: `${ENDPOINTS}?${this.query()}` }),
      () => ({ method: this.pick(['GET', 'DELETE']), path: `${ENDPOINTS}/${this.id()}` }),
    ])();
    const sent: Sent = {
      method: this.chance(0.05) ? this.pick(['PUT', 'PATCH', 'DELETE', 'HEAD', 'TRACE', 'PROPFIND']) : method,
      path,
      headers: { ...this.idempotencyKey() },
      key: this.chance(0.05)
        ? this.pick([undefined, 'x', 'svc_ck_test_xxxxxxxxxxxxxxxxxxxx'])
        : this.pick(this.keys),
    };
    return body === undefined ? sent : { ...sent, ...this.encode(this.damage(body), sent.headers) };
  }

  private encode(body: Json, headers: Record<string, string> = {}): Pick<Sent, 'headers' | 'body'> {
    // A lone surrogate cannot be sent in a form.
    const isForm =
      this.chance(0.5) &&
      typeof body === 'object' &&
      body !== null &&
      !/\\ud[89a-f]/.test(JSON.stringify(body));
    let text = isForm ? formText(body) : JSON.stringify(body);
    if (isForm && this.chance(0.3)) text += `&${this.pair()}`;
    if (this.chance(0.03)) text = text.slice(0, Math.floor(text.length * this.random()));
    let type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    if (this.chance(0.03))
      type = this.pick([
        'text/plain',
        'application/json',
        'multipart/form-data',
        'application/x-www-form-urlencoded',
      ]);
    const bytes = Buffer.from(text);
    if (this.chance(0.02) && bytes.length > 0)
      bytes[Math.floor(this.random() * bytes.length)] = Math.floor(this.random() * 256);
    const zipped = this.chance(0.1);
    return {
      headers: { ...headers, 'Content-Type': type, ...(zipped && { 'Content-Encoding': 'gzip' }) },
      body: zipped ? gzipSync(bytes) : bytes,
    };
  }

  private session(): Json {
    const item = (): Json => ({
      price_data: {
        currency: 'usd',
        unit_amount: Math.floor(this.random() * 10_000),
        product_data: { name: this.text(), description: this.text(), images: ['https://img.example/a.png'] },
      },
      quantity: 1 + Math.floor(this.random() * 9),
    });
    return {
      line_items: Array.from({ length: 1 + Math.floor(this.random() * 3) }, item),
      success_url: 'https://shop.example/{CHECKOUT_SESSION_ID}',
      customer_email: `${MARK}@mail.example`,
      client_reference_id: this.text(),
      metadata: { [this.text()]: this.text(), b: MARK },
      expand: this.chance(0.5) ? ['line_items'] : [],
    };
  }

  private endpoint(): Json {
    return {
      url: HOOK_URL,
      enabled_events: [this.pick(['*', 'checkout.session.completed', 'checkout.session.expired'])],
      description: this.text(),
    };
  }

  /** Half of the bodies stay valid. */
  private damage(body: Json): Json {
    const copy: Json = JSON.parse(JSON.stringify(body));
    for (let left = this.chance(0.5) ? 0 : 1 + Math.floor(this.random() * 3); left > 0; left--)
      this.damageOnce(copy);
    return this.chance(0.01) ? this.value() : copy;
  }

  private damageOnce(node: Json): void {
    if (typeof node !== 'object' || node === null) return;
    const names = Object.keys(node);
    const isNew = names.length === 0 || this.chance(0.1);
    const name = isNew ? this.name() : this.pick(names);
    const child: Json | undefined = Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined;
    if (typeof child === 'object' && child !== null && this.chance(0.7)) this.damageOnce(child);
    else if (this.chance(0.15)) Reflect.deleteProperty(node, name);
    else if (Array.isArray(node)) node.push(this.value());
    // defineProperty, since assigning `__proto__` would set the prototype.
    else {
      const value = this.value();
      Object.defineProperty(node, name, { value, enumerable: true, configurable: true, writable: true });
    }
  }

  private value(): Json {
    return this.pick<() => Json>([
      () => this.text(),
      () => this.text(),
      () =>
        this.pick([0, -1, 1.5, 1e21, 2 ** 53, -0, 99_999_999, 999_999, Math.floor(Date.now() / 1000) + 3600]),
      () => this.pick([true, false, null]),
      () => [],
      () => ({}),
      () => [this.text(), 1, null],
      () => ({ [this.name()]: this.text() }),
      () => 'x'.repeat(this.pick([40, 41, 200, 201, 250, 251, 500, 501, 5000, 5001, 70_000])),
      () => Array.from({ length: this.pick([1, 8, 9, 100, 101]) }, () => this.text()),
    ])();
  }

  private name(): string {
    return this.pick([
      '__proto__',
      'constructor',
      'toString',
      'length',
      '',
      '0',
      'a[b]',
      'a]',
      '[',
      'line_items',
      'mode',
      'url',
      'disabled',
      'expires_at',
      'a\0b',
      '\ud800',
      'payment_method_types',
    ]);
  }

  private text(): string {
    return this.pick([
      MARK,
      MARK,
      'a',
      '',
      ' ',
      '007',
      'true',
      'null',
      'a\0b',
      '\ud800x',
      '😀'.repeat(20),
      '\u202e\u2028\uffff',
      "' OR 1=1 --",
      '%00%ff',
      '$1 ?? :id {}',
      '<b>&amp;',
      '\\u0000',
    ]);
  }

  private pair(): string {
    return this.pick([
      'a=1',
      'metadata[x]=1',
      'metadata[]=1',
      'metadata=1',
      'line_items[]=1',
      'line_items[a][b]=1',
      'line_items[99]=',
      'mode=payment',
      'mode[]=1',
      '=',
      '&&',
      '%',
      '[]=1',
      'metadata[%00]=1',
      `m${'[x]'.repeat(30)}=1`,
      'url=https://other.example',
      'expand=line_items',
    ]);
  }

  private query(): string {
    const one = (): string =>
      this.pick([
        '',
        '',
        'limit=3',
        'limit=0',
        'limit=a',
        `starting_after=${this.id()}`,
        `ending_before=${this.id()}`,
        'starting_after=%00',
        'status=open',
        'status=processing',
        'expand[]=line_items',
        'expand[]=data.line_items',
        'created[gte]=1',
        'created[lt]=99999999999',
        'created=-1',
        'created[x]=1',
        '%ff=%ff',
        '__proto__[a]=1',
        'limit=1&limit=1',
      ]);
    return Array.from({ length: Math.floor(this.random() * 3) }, one).join('&');
  }

  private id(): string {
    return this.chance(0.7)
      ? this.pick(this.ids.slice(-40))
      : this.pick(['cs_test_x', 'we_x', '%00', '%2F', 'x'.repeat(300), '..', '__proto__', '%E2%82%AC', "'"]);
  }

  private idempotencyKey(): Record<string, string> {
    if (this.chance(0.6)) return {};
    return { 'Idempotency-Key': this.pick(['a', 'b', 'c', 'd', `fuzz-${this.made}`, 'k'.repeat(256), 'é']) };
  }

  private chance(probability: number): boolean {
    return this.random() < probability;
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)] as T;
  }
}
