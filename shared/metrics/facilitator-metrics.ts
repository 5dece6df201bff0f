import { Counter, Gauge, type Registry } from 'prom-client';
import type { Facilitators } from '../x402/facilitator/facilitators.js';

/** Gauges and counters of the configured facilitators, as this process sees them. */
export function openFacilitatorMetrics(registry: Registry, { states }: Pick<Facilitators, 'states'>): void {
  const registers = [registry];
  new Gauge({
    name: 'checkout_facilitator_silent',
    help: '1 when the facilitator did not answer /supported in the last two minutes, or is slow to answer it now.',
    labelNames: ['facilitator'],
    registers,
    collect() {
      for (const { name, isSilent } of states()) this.set({ facilitator: name }, isSilent ? 1 : 0);
    },
  });
  new Counter({
    name: 'checkout_facilitator_refusals_total',
    help: "Payments that the facilitator refused because of the buyer's wallet, or because of the seller.",
    labelNames: ['facilitator', 'about'],
    registers,
    collect() {
      this.reset();
      for (const { name, refusals } of states())
        for (const [about, count] of Object.entries(refusals)) this.inc({ facilitator: name, about }, count);
    },
  });
}
