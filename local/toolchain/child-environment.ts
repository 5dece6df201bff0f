/**
 * What a child gets instead of this process's environment: nothing of the caller's locale or PG* variables.
 */
export const CHILD_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};
