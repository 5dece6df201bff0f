/**
 * A SQL expression for the columns that a statement returns: its commit waits for the disk, also where the role or the
 * database commits asynchronously by default (`synchronous_commit = off`). Levels that wait for a standby stay as they are.
 */
export const DURABLE_COMMIT = `CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', true) END AS durably`;
