import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

interface FieldProps {
  label: string;
  value: string;
  onValue(value: string): void;
  onBlur?(): void;
  type?: 'text' | 'email' | 'url' | 'date' | 'number';
  hint?: string;
  isRequired?: boolean;
  /** The most characters of the text. */
  longest?: number;
  inputMode?: 'decimal' | 'numeric';
}

export function Field({
  label,
  value,
  onValue,
  onBlur,
  type = 'text',
  hint,
  isRequired,
  longest,
  inputMode,
}: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        // Preact types the kinds of inputs apart, and these take the same attributes.
        {...({ type } as { type: 'text' })}
        value={value}
        required={isRequired ?? false}
        autoComplete="off"
        spellcheck={false}
        {...(inputMode && { inputMode })}
        {...(longest && { maxLength: longest })}
        {...(hint && { 'aria-describedby': `${id}-hint` })}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        {...(onBlur && { onBlur })}
      />
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
    </div>
  );
}

type DateFieldProps = Pick<FieldProps, 'label' | 'value' | 'onValue'>;

/**
 * A date that the address holds. The address follows the typing late, and its value of a moment ago would take away the
 * digits typed since: while the field has the focus, it shows what was typed.
 */
export function DateField({ label, value, onValue }: DateFieldProps) {
  const [typed, setTyped] = useState<string>();
  const type = (text: string): void => {
    setTyped(text);
    onValue(text);
  };
  return (
    <Field
      label={label}
      type="date"
      value={typed ?? value}
      onValue={type}
      onBlur={() => setTyped(undefined)}
    />
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onValue(value: string): void;
  /** Values and their labels. */
  options: readonly (readonly [value: string, label: string])[];
}

export function Choice({ label, value, onValue, options }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {options.map(([option, name]) => (
          <option key={option} value={option} selected={option === value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FormProps {
  label: string;
  class?: string;
  onSend(): void;
  children: ComponentChildren;
}

/** A form that the script sends; the page's policy lets no form leave it otherwise. */
export function Form({ label, class: name = 'form', onSend, children }: FormProps) {
  return (
    <form
      class={name}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      {children}
    </form>
  );
}
