import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { encodeFunctionData, type Hex, keccak256, type TypedData } from 'viem';
import type { Dials } from '../dials/dials.js';
import type { LocalChain } from '../evm/local-chain.js';
import { announceBroadcast } from './broadcasts.js';

export function createEvmScheme(chain: LocalChain, dials: Dials): ExactEvmScheme {
  const oneByOne = createQueue();

  /** Sends one transaction at a time: two at once would take the same account nonce. */
  const send = (to: Hex, data: Hex): Promise<Hex> =>
    oneByOne(async () => {
      const isLost = dials.settle === 'lose_transaction';
      const hash = isLost ? await signOnly(chain, to, data) : await chain.sendTransaction({ to, data });
      announceBroadcast();
      return hash;
    });

  const signer = toFacilitatorEvmSigner({
    address: chain.account.address,
    getCode: (call) => chain.getCode(call),
    readContract: (call) => chain.readContract({ ...call, args: call.args ?? [] }),
    // The two libraries declare different types for the same value.
    verifyTypedData: (call) => chain.verifyTypedData({ ...call, types: call.types as TypedData }),
    writeContract: ({ address, ...call }) => send(address, encodeFunctionData(call)),
    sendTransaction: ({ to, data }) => send(to, data),
    async waitForTransactionReceipt({ hash }) {
      if (dials.settle === 'pending') throw new Error('told not to wait');
      return await chain.waitForTransactionReceipt({ hash, timeout: dials.confirmWithinMs });
    },
  });
  return new ExactEvmScheme(signer);
}

async function signOnly(chain: LocalChain, to: Hex, data: Hex): Promise<Hex> {
  const request = await chain.prepareTransactionRequest({ to, data });
  return keccak256(await chain.signTransaction(request));
}

function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const done = last.then(task);
    last = done.catch(() => undefined);
    return done;
  };
}
