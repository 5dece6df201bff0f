import { useState } from 'preact/hooks';
import type { Payment, Refund } from '../api/objects.js';
import { useSignedIn } from '../api/signed-in.js';
import { Choice, Field, Form } from '../parts/field.js';
import { dollars, parseDollars, typedDollars } from '../parts/format.js';
import { say } from '../parts/notices.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../parts/use-action.js';
import { goOn, linkTo, shownScreen } from '../state/route.js';

/** Cents of a payment that no refund has taken. */
export function leftOf({ amount }: Payment, refunds: readonly Refund[]): number {
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
  left: number;
  onCancel(): void;
}

export function RefundForm({ payment, left, onCancel }: RefundFormProps) {
  const { api, isReadOnly } = useSignedIn();
  const [amount, setAmount] = useState(typedDollars(left));
  const [reason, setReason] = useState('');
  const action = useAction();
  async function create(): Promise<void> {
    const cents = parseDollars(amount);
    if (cents === undefined || cents < 1 || cents > left)
      throw new Error(`The amount is between $0.01 and ${dollars(left)}, such as ${typedDollars(left)}.`);
    const screen = shownScreen();
    const refund = await api.create<Refund>('/v1/refunds', {
      payment: payment.id,
      amount: cents,
      ...(reason !== '' && { reason }),
    });
    say(`The refund of ${dollars(cents)} is created. Sign it with your wallet to pay it.`);
    goOn(screen, linkTo(['refunds', refund.id]));
  }
  return (
    <Form label="Refund this payment" onSend={() => void action.run(create)}>
      <h2>Refund this payment</h2>
      <Field
        label="Amount in dollars"
        value={amount}
        onValue={setAmount}
        inputMode="decimal"
        isRequired
        hint={`Up to ${dollars(left)}, in ${payment.token} on ${payment.network_name}, to the wallet that paid.`}
      />
      <Choice label="Reason" value={reason} onValue={setReason} options={REASONS} />
      <Failure error={action.error} />
      <div class="actions">
        <button type="button" onClick={onCancel}>
          Do not refund
        </button>
        <button type="submit" class="primary" disabled={action.isBusy || isReadOnly}>
          {action.isBusy ? 'Creating …' : 'Create the refund'}
        </button>
      </div>
    </Form>
  );
}
