import { useState } from 'preact/hooks';
import type { Payment, Refund } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { Choice, Field, Form } from '../parts/field.js';
import { dollars, parseDollars, typedDollars } from '../parts/format.js';
import { notify } from '../parts/notices.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../parts/use-action.js';
import { goToUnlessLeft, linkTo, shownScreen } from '../state/route.js';

/** Cents of a payment that none of `refunds` has taken. */
export function leftAtMost({ amount }: Payment, refunds: readonly Refund[]): number {
  const taken = refunds.filter(({ status }) => status !== 'canceled').map((refund) => refund.amount);
  return Math.max(amount - taken.reduce((sum, one) => sum + one, 0), 0);
}

const REASONS = [
  ['', 'None'],
  ['requested_by_customer', 'Requested by the buyer'],
  ['duplicate', 'Paid twice'],
  ['fraudulent', 'Fraudulent'],
] as const;

interface RefundFormProps {
  payment: Payment;
  /** Exact, unless the payment has more refunds than were read: the service has the sum of all. */
  left: { atMost: number; isExact: boolean };
  onCancel(): void;
}

export function RefundForm({ payment, left, onCancel }: RefundFormProps) {
  const { api, isReadOnly } = useSignedIn();
  const [amount, setAmount] = useState(left.isExact ? typedDollars(left.atMost) : '');
  const [reason, setReason] = useState('');
  const action = useAction();
  const most = dollars(left.atMost);
  async function create(): Promise<void> {
    const isWhole = !left.isExact && amount.trim() === '';
    const cents = parseDollars(amount);
    if (!isWhole && (cents === undefined || cents < 1 || cents > left.atMost))
      throw new Error(`The amount is between $0.01 and ${most}, such as ${typedDollars(left.atMost)}.`);
    const screen = shownScreen();
    const refund = await api.create<Refund>('/v1/refunds', {
      payment: payment.id,
      ...(!isWhole && { amount: cents }),
      ...(reason !== '' && { reason }),
    });
    notify(`The refund of ${dollars(refund.amount)} is created. Sign it with your wallet to pay it.`);
    goToUnlessLeft(screen, linkTo(['refunds', refund.id]));
  }
  return (
    <Form label="Refund this payment" onSend={() => void action.run(create)}>
      <h2>Refund this payment</h2>
      <Field
        label="Amount in dollars"
        value={amount}
        onValue={setAmount}
        inputMode="decimal"
        isRequired={left.isExact}
        hint={`${left.isExact ? `Up to ${most}` : 'Empty: all that is left'}, in ${payment.token} on ${payment.network_name}, to the wallet that paid.`}
      />
      <Choice label="Reason" value={reason} onValue={setReason} options={REASONS} />
      <Failure error={action.error} />
      <div class="actions">
        <button type="button" disabled={action.isBusy} onClick={onCancel}>
          Do not refund
        </button>
        <button type="submit" class="primary" disabled={isReadOnly} aria-disabled={action.isBusy}>
          {action.isBusy ? 'Creating …' : 'Create the refund'}
        </button>
      </div>
    </Form>
  );
}
