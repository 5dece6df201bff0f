/** The environment of child processes: without the caller's locale and PG* variables. */
export const CHILD_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};
