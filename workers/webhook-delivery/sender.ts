import { PacedStarts } from './paced-starts.js';
import { createWebhookSender, type PostResult, type SenderOptions } from './post.js';

/** Posts webhooks, each when its turn has come. */
export interface Sender {
  /** Rejects only when it is not known whether the webhook was sent. */
  send(webhook: OutgoingWebhook): Promise<Sent>;
  close(): Promise<void>;
}

export interface OutgoingWebhook {
  accountId: string;
  endpointId: string;
  url: string;
  headers: Record<string, string>;
  /** The sender may take the memory away from the caller. */
  body: Uint8Array;
}

export interface Sent {
  result: PostResult;
  /** Milliseconds of the try, without the wait for its turn. */
  durationMs: number;
}

/** `low`: where there are not enough processors, other work goes first. */
export type Priority = 'normal' | 'low';

export type OpenSender = (options: Pick<SenderOptions, 'allowPrivateNetworks'>) => Sender;

/** Sends in the thread of the caller. */
export const openSenderHere: OpenSender = (options) => {
  const posts = createWebhookSender(options);
  const starts = new PacedStarts();
  return {
    send: ({ accountId, url, headers, body }) =>
      starts.run(accountId, async () => {
        const started = performance.now();
        const result = await posts.post(url, headers, body);
        return { result, durationMs: Math.round(performance.now() - started) };
      }),
    close: () => posts.close(),
  };
};
