import { find } from './dom.js';
import { isRead, markRead } from './memory.js';

/** A payment that may have been taken. */
interface Uncertain {
  /** The id of the payment, or of the session when the payment has none that is known. */
  reference: string;
  /** The id of the payment, by which the page remembers that the buyer has read about it. */
  payment: string | undefined;
  /** The sentence for a failure that the page saw itself, such as an answer that never came. */
  why?: string;
  /** A button that asks the service. */
  again?: HTMLButtonElement;
}

/** The warning that the server rendered, and its button. */
export function wireUncertain(): void {
  const line = find('#uncertain-read');
  // The style sheet reserves space for hidden elements with this attribute.
  line?.removeAttribute('data-script');
  line?.querySelector('button')?.addEventListener('click', () => {
    const warning = find('#uncertain');
    if (warning === undefined) return;
    warning.dataset.read = '';
    if (warning.dataset.payment !== undefined) markRead(warning.dataset.payment);
    arrange();
    find('#state')?.focus();
  });
  arrange();
}

export function showUncertain({ reference, payment, why, again }: Uncertain): void {
  const warning = find('#uncertain');
  const reason = find('#uncertain-why');
  const button = find('#uncertain-again');
  if (warning === undefined || reason === undefined || button === undefined) return;
  delete warning.dataset.read;
  delete warning.dataset.payment;
  if (payment !== undefined) warning.dataset.payment = payment;
  reason.textContent = why ?? '';
  reason.hidden = why === undefined;
  find('#uncertain-reference code')?.replaceChildren(reference);
  button.replaceChildren(again ?? '');
  button.hidden = again === undefined;
  warning.hidden = false;
  // A buyer who asks for a new link would pay again.
  find('#new-link')?.remove();
  arrange();
}

export function hideUncertain(): void {
  const warning = find('#uncertain');
  if (warning !== undefined) warning.hidden = true;
}

/** Whether the page warns of a payment. It then does not say that nothing was taken. */
export function isUncertain(): boolean {
  return find('#uncertain')?.hidden === false;
}

/** Whether the buyer has not read the warning. The page then offers no way to pay. */
export function isUnread(): boolean {
  const { payment, read } = find('#uncertain')?.dataset ?? {};
  return isUncertain() && read === undefined && !(payment !== undefined && isRead(payment));
}

/** Whether this document warns of a payment that the page has not warned of. */
export function warnsAnew(next: ParentNode): boolean {
  const payment = next.querySelector<HTMLElement>('#uncertain')?.dataset.payment;
  return payment !== undefined && payment !== find('#uncertain')?.dataset.payment;
}

/** The heading that the buyer should read first. */
export function firstHeading(): HTMLElement | undefined {
  return isUnread() ? find('#uncertain-title') : find('#state');
}

function arrange(): void {
  const choose = find('#choose');
  const line = find('#uncertain-read');
  if (line !== undefined) line.hidden = !isUnread();
  if (choose !== undefined) choose.hidden = isUnread() || find('#step')?.hidden === false;
}
