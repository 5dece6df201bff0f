import assert from 'node:assert/strict';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { type FakeFacilitator, startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { type Checkout, openCheckout } from './checkout.js';

/** A checkout with two facilitators, which move money on the same Base Sepolia. */
export interface TwoFacilitators extends Checkout {
  first: FakeFacilitator;
  second: FakeFacilitator;
  chain: EvmChain;
  /** The environment without the second facilitator. */
  withoutSecond: Record<string, string>;
}

interface Options {
  environment?: Record<string, string>;
  worker?: boolean;
  /** The networks that each serves; every network when undefined. */
  networks?: readonly [readonly string[] | undefined, readonly string[] | undefined];
}

export async function openTwoFacilitators({
  environment = {},
  worker = true,
  networks = [undefined, undefined],
}: Options = {}): Promise<TwoFacilitators> {
  const chain = await EvmChain.start(84532);
  const start = (served: readonly string[] | undefined): Promise<FakeFacilitator> =>
    startFacilitator({
      networks: served,
      onSettled: ({ network, asset, from, to, amount, paymentId, transaction }) => {
        if (network !== 'eip155:84532') return;
        chain.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, transaction);
      },
    });
  const [first, second] = [await start(networks[0]), await start(networks[1])];
  const checkout = await openCheckout({
    facilitator: first,
    worker,
    environment: {
      FACILITATOR_URL_2: second.url,
      RPC_URL_EIP155_84532: chain.endpoint.url,
      ...environment,
    },
  });
  return {
    ...checkout,
    first,
    second,
    chain,
    withoutSecond: { FACILITATOR_URL_2: '' },
    async close() {
      for (const dial of [second.supported, second.verify, second.settle]) dial.releaseAll();
      await checkout.close();
      await second.close();
      await chain.close();
    },
  };
}

/** A facilitator's short name. */
export function nameOf({ url }: Pick<FakeFacilitator, 'url'>): string {
  return new URL(url).host;
}

/** The numbers of its calls of `/verify` and `/settle`. */
export function callsOf({ calls }: Pick<FakeFacilitator, 'calls'>): [verify: number, settle: number] {
  return [calls.verify.length, calls.settle.length];
}

type Calls = ReturnType<typeof callsOf>;

export function assertCalls({ first, second }: TwoFacilitators, ofFirst: Calls, ofSecond: Calls): void {
  assert.deepEqual([callsOf(first), callsOf(second)], [ofFirst, ofSecond]);
}
