import type { Sandbox } from '../../lab/sandbox/sandbox.js';
import { type Checkout, openCheckout } from './checkout.js';
import { sandboxEnvironment, testSandbox } from './sandbox.js';

/** A checkout whose payments are settled on the sandbox's chains. */
export type SandboxCheckout = Checkout & { sandbox: Sandbox };

export async function openSandboxCheckout(
  environment: Record<string, string> = {},
): Promise<SandboxCheckout> {
  const sandbox = await testSandbox();
  const checkout = await openCheckout({ environment: { ...sandboxEnvironment(sandbox), ...environment } });
  return { ...checkout, sandbox };
}
