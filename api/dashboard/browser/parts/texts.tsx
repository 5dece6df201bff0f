import { useState } from 'preact/hooks';
import { nowSeconds } from '../state/clock.js';
import { linkTo } from '../state/route.js';
import { relative, short, time } from './format.js';

/** A text of a merchant or a buyer: it can hold markup, and can read from right to left. */
export function Text({ children }: { children: string | null | undefined }) {
  return children ? <bdi class="text">{children}</bdi> : <span class="muted">–</span>;
}

export function When({ at }: { at: number | null | undefined }) {
  if (at == null) return <span class="muted">–</span>;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={time(at)}>
      {time(at)}
    </time>
  );
}

export function Ago({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={time(at)}>
      {relative(at, nowSeconds())}
    </time>
  );
}

/** The start and the end of an id; the whole is its title. */
export function Id({ children }: { children: string }) {
  return (
    <code class="id" title={children}>
      {short(children)}
    </code>
  );
}

/** Leads to the object with this id. `screen`: as in the address, such as `webhooks/events`. */
export function IdLink({ screen, id }: { screen: string; id: string }) {
  return (
    <a href={linkTo([...screen.split('/'), id])}>
      <Id>{id}</Id>
    </a>
  );
}

const TONES: Record<string, string> = {
  succeeded: 'good',
  complete: 'good',
  enabled: 'good',
  paid: 'good',
  failed: 'bad',
  failing: 'bad',
  disabled: 'bad',
  expired: 'plain',
  canceled: 'plain',
  dropped: 'plain',
};
const LABELS: Record<string, string> = {
  requires_action: 'waits for your signature',
  uncertain: 'may be paid already',
  processing: 'being confirmed',
  complete: 'paid',
  pending: 'pending',
};

export function Badge({ status }: { status: string }) {
  return <span class={`badge ${TONES[status] ?? 'waits'}`}>{LABELS[status] ?? status}</span>;
}

/** Shows `value` whole, and copies it. */
export function Copyable({ value, label }: { value: string; label: string }) {
  const [result, setResult] = useState('');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value);
      setResult('Copied');
    } catch {
      setResult('Select it and copy it by hand');
    }
  }
  return (
    <span class="copyable">
      <code>{value}</code>
      <button type="button" class="small" aria-label={`Copy ${label}`} onClick={() => void copy()}>
        Copy
      </button>
      <span class="muted" role="status">
        {result}
      </span>
    </span>
  );
}

/** A link to another site, such as a chain's explorer. */
export function ExternalLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}
