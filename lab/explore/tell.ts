import type { Deed, SettleMood, Step, Story, Work } from './steps.js';

/** A story for a person to read: a step a line, those inside a call below it. */
export function tell({ setup, steps }: Story): string {
  const { confirmations, sessions, payloads } = setup;
  const signed = payloads.map(
    ({ buyer, validSeconds, named }) => `buyer ${buyer}, ${validSeconds} s${named ? ', named' : ''}`,
  );
  return [
    `${sessions} session(s), ${confirmations} confirmations, payloads: ${signed.join(' | ')}`,
    ...steps.flatMap((step) => tellStep(step, '  ')),
    '  everything heals',
  ].join('\n');
}

function tellStep(step: Step, indent: string): string[] {
  const inside = (when: string, steps: readonly Step[]): string[] =>
    steps.length === 0
      ? []
      : [`${indent}  ${when}:`, ...steps.flatMap((one) => tellStep(one, `${indent}    `))];
  switch (step.do) {
    case 'pay':
      return [
        `${indent}payload ${step.payload} is sent to session ${step.session}; /verify ${step.verify}`,
        ...inside('while the buyer waits', step.meanwhile),
      ];
    case 'work':
      return [
        `${indent}${tellWork(step)}`,
        ...inside('before its call', step.stalled),
        ...inside('during its call', step.meanwhile),
      ];
    case 'pass':
      return [`${indent}${step.seconds} s pass`];
    case 'ask':
    case 'expire':
      return [`${indent}${step.do} session ${step.session}`];
    case 'cancel':
      return [`${indent}the owner of payload ${step.payload} cancels it`];
    case 'resolve':
      return [`${indent}an operator says the truth of payment ${step.payment}`];
    case 'halt chain':
    case 'resume chain':
      return [`${indent}${step.do}`];
  }
}

function tellWork({ payment, times, when, settle, look, isStale, verify, crash }: Work): string {
  const parts = [
    `work on payment ${payment}, ${when}${times > 1 ? `, ${times} times` : ''}`,
    `/settle ${tellMood(settle)}`,
    `look ${look}${isStale ? ' (stale)' : ''}`,
    `/verify ${verify}`,
    ...(crash === 'none' ? [] : [`crash ${crash}`]),
  ];
  return parts.join('; ');
}

function tellMood(mood: SettleMood): string {
  switch (mood.kind) {
    case 'honest':
      return 'honest';
    case 'refuses':
    case 'refuses doubtfully':
      return `${mood.kind} (${mood.reason}), ${tellDeed(mood.deed)}`;
    case 'unclear':
      return `${mood.reply}, ${tellDeed(mood.deed)}`;
    case 'turned away':
      return `turned away by ${mood.by}`;
    case 'turned away with words':
      return `${mood.status} with ${mood.words}, ${tellDeed(mood.deed)}`;
  }
}

function tellDeed(deed: Deed): string {
  return deed.sends ? `sent, lands after ${deed.afterSeconds} s` : 'nothing sent';
}
