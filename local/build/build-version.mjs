import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The tag's version when its commit is built; else the package's version with the commit. A build without git takes the
 * tag from BUILD_VERSION, as `docker build` does, or the commit from SOURCE_VERSION, as hosting platforms set it.
 */
export function buildVersion(root) {
  const given = process.env.BUILD_VERSION?.trim();
  if (given) return given.replace(/^v(?=\d)/, '');
  const tag = git(root, 'describe', '--tags', '--exact-match', '--match', 'v[0-9]*');
  if (tag !== undefined) return tag.slice(1);
  const commit = git(root, 'rev-parse', '--short', 'HEAD') ?? process.env.SOURCE_VERSION?.slice(0, 7);
  const version = packageVersion(root);
  return commit ? `${version}+${commit}` : version;
}

function packageVersion(root) {
  const { version = '0.0.0' } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return version;
}

/**
 * Undefined without a repository or without git. A repository above the folder is another project's and does not count.
 */
function git(root, ...args) {
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(root) };
  try {
    const text = execFileSync('git', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] });
    return text.toString().trim() || undefined;
  } catch {
    return undefined;
  }
}
