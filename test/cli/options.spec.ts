import assert from 'node:assert/strict';
import { assertRefused, runCommand } from '../support/cli.js';

describe('an option that a command does not take', () => {
  const refused: [argv: string[], words: string][] = [
    [['create', '--nmae', 'X'], 'There is no option --nmae here: did you mean --name?'],
    [['create', '-name', 'X'], 'There is no option -name here: did you mean --name?'],
    [['create', '--Name', 'X'], 'There is no option --Name here: did you mean --name?'],
    [['create', '--support=a@b.example'], 'There is no option --support here: did you mean --support-email?'],
    [
      ['create', '--wallet', 'X'],
      'There is no option --wallet here: its options are --name, --evm, --solana, --logo-url, --brand-color, --support-email.',
    ],
    [['list', '--all'], 'There is no option --all here: remove it.'],
    [['list', '--jsno'], 'There is no option --jsno here: did you mean --json?'],
    [['list', '--json=true'], '--json takes no value: write --json alone.'],
    [['payments', '--undecided=yes'], '--undecided takes no value: write --undecided alone.'],
    [['create', '--name'], '--name needs a value after it.'],
    [
      ['create', '--name', '--evm'],
      '--name needs a value after it; write one that starts with a dash as --name=--evm.',
    ],
    [['create-key', 'acct_1', '--mode', 'test', '--mode', 'live'], '--mode is given twice: write it once.'],
    [['show', '-17'], 'There is no option -17 here: write a subject that starts with a dash last, after --.'],
  ];
  for (const [argv, words] of refused) {
    it(`is refused in one line that says what to change: ${argv.join(' ')}`, async () => {
      const { status, stdout, stderr } = await runCommand(...argv);
      assert.deepEqual([status, stdout], [1, '']);
      const [line = '', ...others] = stderr.trimEnd().split('\n');
      assert.deepEqual([line.slice(0, words.length + 1), others], [`${words} `, []]);
      assert.match(line.slice(words.length), new RegExp(`^ Usage: merchants ${argv[0]}`));
    });
  }

  it('is not --help or -h, which print what the commands take and do nothing', async () => {
    const usage = await runCommand('help');
    assert.equal(usage.status, 0);
    for (const argv of [
      ['create', '--name', 'X', '--help'],
      ['show', '-h'],
      ['archive', '--help'],
    ])
      assert.deepEqual(await runCommand(...argv), usage, argv.join(' '));
    await assertRefused(/--json needs a command, and prints no help/, 'list', '--help', '--json');
    await assertRefused(/^Usage: merchants show /, 'show', '--', 'x', '--help');
  });

  it('is not what stands after --', async () => {
    await assertRefused(/^Usage: merchants show /, 'show', '--', '-17', '--nmae');
  });
});

describe('a setting that a command cannot use', () => {
  const { DATABASE_URL, BASE_URL } = process.env;
  after(() => {
    for (const [name, value] of Object.entries({ DATABASE_URL, BASE_URL }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  it('is named in one line, beside the others', async () => {
    Object.assign(process.env, { DATABASE_URL: 'mysql://x', BASE_URL: 'pay.example' });
    const { status, stdout, stderr } = await runCommand('list');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^The environment is not usable: BASE_URL must be .* DATABASE_URL must be .*\n$/);
  });
});
