import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useSignedIn } from '../api/signed-in.js';
import { notify } from './notices.js';
import { Failure } from './states.js';
import { useAction } from './use-action.js';

interface ConfirmProps {
  /** The button that asks, and the title of the question. */
  label: string;
  /** The consequences of the action. */
  children: ComponentChildren;
  /** The button that does it. */
  confirm: string;
  isDangerous?: boolean;
  /** The action that the screen is there for. */
  isPrimary?: boolean;
  /** Does the action, and resolves to the sentence that says what happened. */
  work(): Promise<string>;
}

/** A button whose action is asked for again, in a dialog of the browser: it holds the focus and closes with Escape. */
export function ConfirmedButton({ label, children, confirm, isDangerous, isPrimary, work }: ConfirmProps) {
  const { isReadOnly } = useSignedIn();
  const [isOpen, setIsOpen] = useState(false);
  const kind = isDangerous ? 'danger' : '';
  return (
    <>
      <button
        type="button"
        class={isPrimary ? 'primary' : kind}
        disabled={isReadOnly}
        onClick={() => setIsOpen(true)}
      >
        {label}
      </button>
      {isOpen ? (
        <Question label={label} confirm={confirm} kind={kind} work={work} onClose={() => setIsOpen(false)}>
          {children}
        </Question>
      ) : null}
    </>
  );
}

interface QuestionProps extends Pick<ConfirmProps, 'label' | 'confirm' | 'work' | 'children'> {
  kind: string;
  onClose(): void;
}

function Question({ label, confirm, kind, work, onClose, children }: QuestionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const action = useAction();
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  async function act(): Promise<void> {
    let said = '';
    const isDone = await action.run(async () => {
      said = await work();
    });
    if (!isDone) return;
    dialog.current?.close();
    notify(said);
  }
  /** Escape would look as if the action were called off, which has begun. */
  function onCancel(event: Event): void {
    if (action.isBusy) event.preventDefault();
  }
  return (
    <dialog ref={dialog} aria-labelledby={title} onCancel={onCancel} onClose={onClose}>
      <h2 id={title}>{label}</h2>
      <div>{children}</div>
      <Failure error={action.error} />
      <div class="actions">
        <button type="button" disabled={action.isBusy} onClick={() => dialog.current?.close()}>
          Keep it as it is
        </button>
        <button
          type="button"
          class={`primary ${kind}`}
          aria-disabled={action.isBusy}
          onClick={() => void act()}
        >
          {action.isBusy ? 'Working …' : confirm}
        </button>
      </div>
    </dialog>
  );
}
