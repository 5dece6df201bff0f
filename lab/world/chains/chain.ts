import { pick, type Random } from '../chance/seeded-random.js';
import { RpcEndpoint, type RpcMethods } from './rpc-endpoint.js';

/** A load balancer before several nodes, each some blocks behind the first; each request reaches one of them. */
export class Balancer {
  #lags: readonly number[] = [0];
  #random: Random | undefined;
  #requests = 0;

  /** Sets how far each node is behind. Requests go round robin, or at random when `random` is given. */
  spread(lags: readonly number[], random?: Random): void {
    this.#lags = lags;
    this.#random = random;
  }

  /** How far the node of the next request is behind. */
  next(): number {
    this.#requests += 1;
    if (this.#random !== undefined) return pick(this.#random, this.#lags);
    return this.#lags[this.#requests % this.#lags.length] ?? 0;
  }
}

/** A chain with an endpoint on a port of its own. `EvmChain` and `SolanaChain` supply blocks and methods. */
export abstract class Chain {
  /** How many blocks or slots the node is behind, by method or for '*'. */
  readonly lag = new Map<string, number>();
  readonly nodes = new Balancer();
  #endpoint: RpcEndpoint | undefined;
  #isHalted = false;
  #onResume: (() => void)[] = [];

  get endpoint(): RpcEndpoint {
    if (this.#endpoint === undefined) throw new Error('the chain is not started');
    return this.#endpoint;
  }

  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** Stops block production; transactions stay pending. */
  halt(): void {
    this.#isHalted = true;
  }

  /** Resumes block production, starting with the pending transactions. */
  resume(): void {
    this.#isHalted = false;
    for (const execute of this.#onResume.splice(0)) execute();
  }

  /** Resolves at once, or when a halted chain resumes. */
  async running(): Promise<void> {
    if (this.#isHalted) await new Promise<void>((resolve) => this.whenRunning(resolve));
  }

  /** The nodes lose all history but that of the newest blocks or slots. */
  abstract prune(keeps: number): void;

  async close(): Promise<void> {
    await this.endpoint.close();
  }

  protected abstract methods(): RpcMethods;

  protected async listen(): Promise<this> {
    this.#endpoint = await RpcEndpoint.start(this.methods());
    return this;
  }

  protected withoutPort(): this {
    this.#endpoint = RpcEndpoint.inProcess(this.methods());
    return this;
  }

  protected whenRunning(execute: () => void): void {
    if (this.#isHalted) this.#onResume.push(execute);
    else execute();
  }

  /** How far the node of this request is behind. Call it once per request. */
  protected lagOf(method: string): number {
    return (this.lag.get(method) ?? this.lag.get('*') ?? 0) + this.nodes.next();
  }
}
