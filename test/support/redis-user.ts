import { Redis } from 'ioredis';
import { testServices } from './suite.js';

/** A user of this process' Redis. */
interface RedisUser {
  url: string;
  /** The commands that Redis has refused to the user, as it logged them. */
  refusals(): Promise<unknown>;
  close(): Promise<void>;
}

const NAME = 'checkout';
const PASSWORD = 'password';

/** `rights` are words of `ACL SETUSER`. */
export async function openRedisUser(rights: readonly string[]): Promise<RedisUser> {
  const { redisUrl } = testServices();
  const admin = new Redis(redisUrl);
  await admin.call('ACL', 'SETUSER', NAME, 'reset', 'on', `>${PASSWORD}`, ...rights);
  await admin.call('ACL', 'LOG', 'RESET');
  const url = new URL(redisUrl);
  url.username = NAME;
  url.password = PASSWORD;
  return {
    url: url.href,
    refusals: () => admin.call('ACL', 'LOG'),
    async close() {
      await admin.call('ACL', 'DELUSER', NAME);
      admin.disconnect();
    },
  };
}
