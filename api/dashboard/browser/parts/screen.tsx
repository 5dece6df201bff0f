import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useSignedIn } from '../api/signed-in.js';

interface ScreenProps {
  title: string;
  /** Elements beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Screen({ title, actions, children }: ScreenProps) {
  const { livemode } = useSignedIn();
  useEffect(() => {
    document.title = `${title} · ${livemode ? 'live' : 'test'} data`;
  }, [title, livemode]);
  return (
    <>
      <div class="screen-head">
        <h1 tabIndex={-1}>{title}</h1>
        <div class="actions">{actions}</div>
      </div>
      {children}
    </>
  );
}
