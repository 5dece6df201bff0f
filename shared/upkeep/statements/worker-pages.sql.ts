import type { Statement } from '../../db/statement.js';

export const WRITE_WORKER_PAGE: Statement = {
  name: 'write-worker-page',
  text: `
    INSERT INTO worker_pages (worker, page, written_at) VALUES ($1, $2, $3)
    ON CONFLICT (worker) DO UPDATE SET page = $2, written_at = $3`,
};

export const READ_WORKER_PAGES: Statement = {
  text: 'SELECT page FROM worker_pages WHERE written_at > $1 ORDER BY written_at DESC LIMIT $2',
};

export const REMOVE_OLD_PAGES: Statement = { text: 'DELETE FROM worker_pages WHERE written_at < $1' };
