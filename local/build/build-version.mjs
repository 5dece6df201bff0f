import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The tag's own number when its commit is built; else the package's, with the commit. Whoever builds without git names the
 * tag in BUILD_VERSION, as `docker build` is told to, or the commit in SOURCE_VERSION, as platforms do.
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

/** Undefined where there is no such thing, or no git; what lies above the folder is another project's. */
function git(root, ...args) {
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(root) };
  try {
    const text = execFileSync('git', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] });
    return text.toString().trim() || undefined;
  } catch {
    return undefined;
  }
}
