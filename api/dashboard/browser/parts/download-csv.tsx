import { useSignedIn } from '../api/signed-in.js';
import type { Query } from '../state/route.js';
import { notify } from './notices.js';
import { Failure } from './states.js';
import { useAction } from './use-action.js';

/** Downloads a list as CSV. The key goes in a header, so a plain link could not. */
export function DownloadCsv({ path, query, name }: { path: string; query: Query; name: string }) {
  const { api, livemode } = useSignedIn();
  const action = useAction();
  async function save(): Promise<void> {
    const blob = await api.csv(path, query);
    const address = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = address;
    link.download = `${name}-${livemode ? 'live' : 'test'}.csv`;
    link.click();
    // The browser has read the address by then.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    notify(`${link.download} was downloaded.`);
  }
  return (
    <>
      <button type="button" aria-disabled={action.isBusy} onClick={() => void action.run(save)}>
        {action.isBusy ? 'Downloading …' : 'Download CSV'}
      </button>
      <Failure error={action.error} />
    </>
  );
}
