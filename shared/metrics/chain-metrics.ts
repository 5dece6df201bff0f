import { Counter, Gauge, type Registry } from 'prom-client';
import type { OpenChains } from '../chains/chains.js';
import { NETWORKS } from '../chains/networks/networks.js';
import type { EndpointState } from '../chains/rpc/endpoint-queues.js';

/** The queues before the chains' endpoints, by network: an endpoint's URL may hold a key. */
export function openChainMetrics(registry: Registry, { endpoints }: Pick<OpenChains, 'endpoints'>): void {
  const registers = [registry];
  const labelNames = ['network'];
  const gauge = (name: string, help: string, read: (state: EndpointState) => number): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const { caip2: network } of NETWORKS) this.set({ network }, 0);
        for (const state of endpoints()) this.set({ network: state.network }, read(state));
      },
    });
  };
  gauge(
    'checkout_chain_calls_waiting',
    "Calls of chain checks that wait for their turn at the network's endpoint.",
    ({ waitingCalls }) => waitingCalls,
  );
  gauge(
    'checkout_chain_paused_seconds',
    "The rest of the pause that the network's endpoint gets since it limited a call.",
    ({ pausedMs }) => pausedMs / 1000,
  );
  new Counter({
    name: 'checkout_chain_limited_total',
    help: "Answers of the network's endpoint that limited a call, by HTTP 429 or a JSON-RPC error.",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { caip2: network } of NETWORKS) this.inc({ network }, 0);
      for (const { network, limitedAnswers } of endpoints()) this.inc({ network }, limitedAnswers);
    },
  });
}
