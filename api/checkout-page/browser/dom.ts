/** Strings are only ever set as text: nothing in this folder parses markup from a string. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function find(selector: string): HTMLElement | undefined {
  return document.querySelector<HTMLElement>(selector) ?? undefined;
}

export function findAll(selector: string): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(selector)];
}

export function button(label: string, className: string, onPress: () => void): HTMLButtonElement {
  const element = make('button', { type: 'button', class: className }, label);
  element.addEventListener('click', onPress);
  return element;
}

/** Announces text to screen readers, through #live, which is always in the document. */
export function announce(text: string): void {
  const live = find('#live');
  if (live !== undefined && live.textContent !== text) live.textContent = text;
}

/**
 * A text with its `{name}`s filled in. Names of wallets and networks are isolated in <bdi>; amounts are not
 * wrapped.
 */
export function sentence(text: string, values: Readonly<Record<string, string>>): (Node | string)[] {
  return text.split(/(\{[a-z]+\})/i).map((part) => {
    const name = /^\{([a-z]+)\}$/i.exec(part)?.[1];
    const value = name === undefined ? undefined : values[name];
    if (value === undefined) return part;
    if (name === 'wallet' || name === 'network') return make('bdi', {}, value);
    return name === 'amount' ? make('span', { class: 'amount' }, value) : value;
  });
}

export function spinner(): HTMLElement {
  return make('span', { class: 'icon working', 'aria-hidden': 'true' });
}
