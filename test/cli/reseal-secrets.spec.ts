import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { type Resealed, resealSecrets } from '../../shared/webhooks/secrets.js';
import { assertRefused, runCommand, runJson, saidBy } from '../support/cli.js';
import { useEnvironment } from '../support/environment.js';
import { forAllTests } from '../support/hooks.js';
import { untilOneWaits } from '../support/until-one-waits.js';
import { type Hook, openWebhookFlow } from '../support/webhook-flow.js';

const [older, newer, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const text = (...keys: Buffer[]): string => keys.map((key) => key.toString('base64')).join(',');

describe('merchants reseal-secrets', () => {
  const flow = forAllTests(() =>
    openWebhookFlow('reseal_secrets', {
      worker: false,
      environment: { ENCRYPTION_KEY: text(older) },
    }),
  );
  let hook: Hook;
  useEnvironment(() => ({ DATABASE_URL: flow.databaseUrl, ENCRYPTION_KEY: text(newer, older) }));
  before(async () => {
    hook = await flow.addEndpoint();
  });
  beforeEach(() => {
    process.env.ENCRYPTION_KEY = text(newer, older);
  });

  const sealedSecret = async (id = hook.id): Promise<string> => (await flow.endpoint(id)).sealedSecret;

  it('requires the keys', async () => {
    delete process.env.ENCRYPTION_KEY;
    await assertRefused(/ENCRYPTION_KEY is missing/, 'reseal-secrets');
  });

  /** Commits a transaction that makes this change while `resealSecrets` waits for the row, and returns its result. */
  async function resealDuring(change: (sealed: string) => object): Promise<Resealed> {
    const other = await flow.db.transaction();
    try {
      await other('webhookEndpoints')
        .where('id', hook.id)
        .update(change(await sealedSecret()));
      const resealing = resealSecrets(flow.db, createSecretBox([newer, older]));
      await untilOneWaits(flow.db);
      await other.commit();
      return await resealing;
    } finally {
      if (!other.isCompleted()) await other.rollback();
    }
  }

  it('keeps a secret that another transaction has sealed meanwhile, and seals that one', async () => {
    const before = await sealedSecret();
    const meanwhile = createSecretBox([older]).seal('whsec_another');
    const resealed = await resealDuring(() => ({ sealedSecret: meanwhile }));
    assert.deepEqual(resealed, { resealed: 1, current: 0, unreadable: [] });
    assert.equal(createSecretBox([newer]).open(await sealedSecret()), 'whsec_another');
    await flow.db('webhookEndpoints').where('id', hook.id).update({ sealedSecret: before });
  });

  it('seals the secret that a roll has made the previous one meanwhile', async () => {
    const before = await sealedSecret();
    const resealed = await resealDuring((sealed) => ({
      sealedSecret: createSecretBox([newer]).seal('whsec_rolled'),
      previousSealedSecret: sealed,
      previousSignsUntil: new Date('2100-01-01'),
    }));
    assert.deepEqual(resealed, { resealed: 1, current: 1, unreadable: [] });
    const { previousSealedSecret } = await flow.endpoint(hook.id);
    assert.equal(createSecretBox([newer]).open(previousSealedSecret ?? ''), hook.secret);
    await flow
      .db('webhookEndpoints')
      .where('id', hook.id)
      .update({ sealedSecret: before, previousSealedSecret: null, previousSignsUntil: null });
  });

  it('seals with the first key, so that the old key is no longer needed, and is idempotent', async () => {
    const before = await sealedSecret();
    const { id: deleted } = await flow.addEndpoint();
    await flow.api.delete(`/v1/webhook_endpoints/${deleted}`).expect(200);
    const left = await sealedSecret(deleted);
    assert.deepEqual(await runJson('reseal-secrets'), {
      resealed: 1,
      already_current: 0,
      unreadable: 0,
      unreadable_endpoints: [],
    });
    assert.notEqual(await sealedSecret(), before);
    assert.equal(await sealedSecret(deleted), left, 'the secret of a deleted endpoint stays as it is');
    assert.match((await runCommand('reseal-secrets')).stdout, /^resealed: 0\nalready_current: 1\n/);

    await flow.startWorker({ ENCRYPTION_KEY: text(newer) });
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, 1);
    const [got] = hook.receiver.got;
    const signature = String(got?.headers['service-signature']);
    new Stripe('unused').webhooks.constructEvent(got?.raw ?? '', signature, hook.secret, 300_000);
  });

  it('counts unreadable secrets and seals the rest', async () => {
    const unreadable = await flow.addEndpoint();
    const sealed = createSecretBox([lost]).seal(unreadable.secret);
    await flow.db('webhookEndpoints').where('id', unreadable.id).update({ sealedSecret: sealed });
    const readable = await flow.addEndpoint();
    const { status, stdout, stderr } = await runCommand('reseal-secrets', '--json');
    assert.equal(status, 1);
    assert.deepEqual(JSON.parse(stdout), {
      resealed: 1,
      already_current: 1,
      unreadable: 1,
      unreadable_endpoints: [{ id: unreadable.id }],
    });
    assert.match(saidBy({ stderr }), /^ENCRYPTION_KEY lacks the key of 1 webhook secrets.*\n$/);
    assert.equal(await sealedSecret(unreadable.id), sealed);
    assert.equal(createSecretBox([newer]).open(await sealedSecret(readable.id)), readable.secret);
  });
});
