import type { Effect, SettleFaultMode, Step, Trial, Work } from '../steps/steps.js';

/** A trial's steps as text, one per line; those inside a call are indented below it. */
export function describeTrial({ setup, steps }: Trial): string {
  const { confirmations, sessions, payloads } = setup;
  const signed = payloads.map(
    ({ buyer, validSeconds, named }) => `buyer ${buyer}, ${validSeconds} s${named ? ', named' : ''}`,
  );
  return [
    `${sessions} session(s), ${confirmations} confirmations, payloads: ${signed.join(' | ')}`,
    ...steps.flatMap((step) => describeStep(step, '  ')),
    '  everything recovers',
  ].join('\n');
}

function describeStep(step: Step, indent: string): string[] {
  const inside = (when: string, steps: readonly Step[]): string[] =>
    steps.length === 0
      ? []
      : [`${indent}  ${when}:`, ...steps.flatMap((one) => describeStep(one, `${indent}    `))];
  switch (step.do) {
    case 'pay':
      return [
        `${indent}payload ${step.payload} is sent to session ${step.session}; /verify ${step.verify}`,
        ...inside('while the buyer waits', step.meanwhile),
      ];
    case 'work':
      return [
        `${indent}${describeWork(step)}`,
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
    case 'silent day':
      return [`${indent}${step.do}`];
  }
}

function describeWork({ payment, times, when, settle, check, isStale, verify, crash }: Work): string {
  const parts = [
    `work on payment ${payment}, ${when}${times > 1 ? `, ${times} times` : ''}`,
    `/settle ${describeSettle(settle)}`,
    `chain check ${check}${isStale ? ' (stale)' : ''}`,
    `/verify ${verify}`,
    ...(crash === 'none' ? [] : [`crash ${crash}`]),
  ];
  return parts.join('; ');
}

function describeSettle(mode: SettleFaultMode): string {
  switch (mode.kind) {
    case 'honest':
      return 'honest';
    case 'refuses':
    case 'refuses doubtfully':
      return `${mode.kind} (${mode.reason}), ${describeEffect(mode.effect)}`;
    case 'unclear':
      return `${mode.reply}, ${describeEffect(mode.effect)}`;
    case 'turned away':
      return `turned away by ${mode.by}`;
    case 'turned away with words':
      return `${mode.status} with ${mode.words}, ${describeEffect(mode.effect)}`;
  }
}

function describeEffect(effect: Effect): string {
  return effect.sends ? `sent, lands after ${effect.afterSeconds} s` : 'nothing sent';
}
