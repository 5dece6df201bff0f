import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { loadConfig } from '../../../shared/config/config.js';
import { COMPLETE, problemsOf } from './problems.js';

describe('the settings of several facilitators', () => {
  const TWO = { ...COMPLETE, FACILITATOR_URL_2: 'https://two.example/x402/' };
  const namesOf = (variables: Record<string, string>): string[] =>
    loadConfig({ ...COMPLETE, ...variables }, 'web').facilitators.map(({ name }) => name);

  it('reads each with its own credentials, in the order of preference', () => {
    const bearer = { FACILITATOR_AUTH_2: 'bearer', FACILITATOR_SECRET_2: 'token' };
    const third = { FACILITATOR_URL_3: 'http://three.example:8080' };
    const { facilitators } = loadConfig({ ...TWO, ...bearer, ...third }, 'web');
    assert.deepEqual(
      facilitators.map(({ name, url, auth }) => [name, url, auth.kind]),
      [
        ['facilitator.example', 'https://facilitator.example', 'none'],
        ['two.example', 'https://two.example/x402', 'bearer'],
        ['three.example:8080', 'http://three.example:8080', 'none'],
      ],
    );
  });

  it('gives each the timeouts of all, and its own limits or those of the first', () => {
    const limits = { FACILITATOR_MAX_PER_SECOND: '50', FACILITATOR_MAX_CONNECTIONS: '9' };
    const own = { FACILITATOR_MAX_PER_SECOND_2: '5', FACILITATOR_TIMEOUT_MS: '700' };
    const { facilitators } = loadConfig({ ...TWO, ...limits, ...own }, 'web');
    assert.deepEqual(
      facilitators.map((one) => [one.timeoutMs, one.maxPerSecond, one.maxConnections]),
      [
        [700, 50, 9],
        [700, 5, 9],
      ],
    );
  });

  it('names them by what another order leaves as it is', () => {
    const same = { FACILITATOR_URL: 'https://x.example/a', FACILITATOR_URL_2: 'https://x.example/b' };
    assert.deepEqual(namesOf(same), ['x.example/a', 'x.example/b']);
    const { privateKey } = generateKeyPairSync('ed25519');
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const keys = { FACILITATOR_KEY_ID_2: 'k', FACILITATOR_SECRET_2: secret };
    assert.deepEqual(namesOf({ ...same, FACILITATOR_URL_2: same.FACILITATOR_URL, ...keys }), [
      'x.example/a',
      'x.example/a (k)',
    ]);
  });

  it('knows each by every name that it has among others', () => {
    const url = 'https://x.example/a';
    const bearer = { FACILITATOR_URL: url, FACILITATOR_AUTH: 'bearer', FACILITATOR_SECRET: 't' };
    const added = { FACILITATOR_URL_2: url, FACILITATOR_AUTH_2: 'bearer', FACILITATOR_SECRET_2: 'u' };
    for (const variables of [bearer, { ...bearer, ...added }]) {
      const [first] = loadConfig({ ...COMPLETE, ...variables }, 'web').facilitators;
      assert.deepEqual(first?.names, ['x.example', 'x.example/a', 'x.example/a (e3b98a4da31a)']);
    }
  });

  const second = { FACILITATOR_URL_2: 'https://two.example' };
  const key = { FACILITATOR_KEY_ID_2: 'k' };
  const wrong: Record<string, [variables: Record<string, string>, problem: RegExp]> = {
    'a gap': [
      { FACILITATOR_URL_3: 'https://three.example' },
      /URL_3 is set without FACILITATOR_URL_2: number/,
    ],
    'credentials without a URL': [
      { FACILITATOR_AUTH_3: 'none' },
      /AUTH_3 is set without FACILITATOR_URL_3: set/,
    ],
    'a limit without a URL': [
      { FACILITATOR_MAX_PER_SECOND_2: '5' },
      /SECOND_2 is set without FACILITATOR_URL_2/,
    ],
    'a tenth': [{ FACILITATOR_SECRET_10: 'x' }, /FACILITATOR_SECRET_10 is not read: .* the numbers 2 to 9\./],
    'a number for the first': [{ FACILITATOR_URL_1: 'https://one.example' }, /FACILITATOR_URL_1 is not read/],
    'the same one twice': [
      { FACILITATOR_URL_2: 'https://FACILITATOR.example/' },
      /FACILITATOR_URL_2 is the same facilitator with the same key as FACILITATOR_URL: remove/,
    ],
    'half a key': [{ ...second, ...key }, /FACILITATOR_KEY_ID_2 is set without FACILITATOR_SECRET_2/],
    'a secret that is none': [{ ...second, ...key, FACILITATOR_SECRET_2: 'x' }, /FACILITATOR_SECRET_2 /],
    'a URL that is none': [{ FACILITATOR_URL_2: 'ftp://x' }, /FACILITATOR_URL_2 must be a URL/],
  };
  for (const [what, [variables, problem]] of Object.entries(wrong))
    it(`refuses ${what}`, () => assert.match(problemsOf({ ...COMPLETE, ...variables }), problem));

  it('refuses a URL of which a part would be dropped, or stand before a path, and does not quote it', () => {
    const unusable = ['f.test/?key=hunter2', 'f.test/#hunter2', 'user:hunter2@f.test', 'hunter2@f.test'];
    for (const variable of ['FACILITATOR_URL', 'FACILITATOR_URL_2'])
      for (const address of unusable) {
        const problems = problemsOf({ ...COMPLETE, [variable]: `https://${address}` });
        assert.match(problems, new RegExp(`^ {2}${variable} must be scheme, host and port`, 'm'));
        assert.doesNotMatch(problems, /hunter2/);
      }
  });

  it('refuses a second without a first', () => {
    const { FACILITATOR_URL: _, ...without } = TWO;
    assert.match(problemsOf(without), /FACILITATOR_URL is missing/);
  });
});
