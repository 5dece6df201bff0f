import type { ComponentChildren } from 'preact';
import { ExternalLink } from './texts.js';

type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values of one object. A row that is false is left out. */
export function Facts({ rows }: { rows: readonly (Fact | false)[] }) {
  return (
    <dl class="facts">
      {rows
        .filter((row) => row !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function explorerFact(transactionUrl: string | null): Fact | false {
  return (
    transactionUrl !== null && [
      'Explorer',
      <ExternalLink href={transactionUrl}>See it on the chain</ExternalLink>,
    ]
  );
}
