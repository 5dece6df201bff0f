import type { ComponentChildren } from 'preact';
import { When } from './texts.js';

export interface Moment {
  key: string;
  at: number;
  title: ComponentChildren;
  detail?: ComponentChildren;
  tone?: 'good' | 'bad';
}

/** Moments in the order of their times, the oldest first. */
export function Timeline({ moments }: { moments: readonly Moment[] }) {
  const sorted = [...moments].sort((a, b) => a.at - b.at);
  return (
    <ol class="timeline">
      {sorted.map(({ key, at, title, detail, tone }) => (
        <li key={key} class={tone ?? ''}>
          <div class="timeline-title">{title}</div>
          <div class="muted">
            <When at={at} />
          </div>
          {detail ? <div>{detail}</div> : null}
        </li>
      ))}
    </ol>
  );
}
