import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.js';
import type { Read } from '../api/use-read.js';

export function Loading() {
  return (
    <p class="loading" role="status">
      Loading …
    </p>
  );
}

export function Failure({ error }: { error: ApiError | undefined }) {
  if (error === undefined) return null;
  return (
    <p class="failure" role="alert">
      {error.message}
    </p>
  );
}

/** An empty list: the title says that there is nothing yet, the children say the next step. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <div>{children}</div>
    </div>
  );
}

/** Shows the data of a read, or why there is none. Data stays while it is being read again, and when that fails. */
export function ReadView<T>({ read, children }: { read: Read<T>; children: (data: T) => ComponentChildren }) {
  const { data, error } = read;
  if (data === undefined) {
    if (error === undefined) return <Loading />;
    if (error.status === 404)
      return <Empty title="Nothing with this id is in the data of this key.">{error.message}</Empty>;
    return <Failure error={error} />;
  }
  return (
    <>
      {error === undefined ? null : (
        <p class="stale" role="status">
          This may be out of date. {error.message}
        </p>
      )}
      {children(data)}
    </>
  );
}
