import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** A section replaces a pressed button by a form, or a form by the buttons that open it. */
const REPLACEMENT = 'form input, .actions button';

/**
 * An element that is removed leaves the focus to the body, where a screen reader begins at the top. The focus goes to what
 * replaces the element in its section, or else to the title of the screen.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let focused: Element | null = null;
    let section: Element | null = null;
    const isLost = (): boolean => document.activeElement === document.body;
    function follow(): void {
      focused = document.activeElement;
      section = focused?.closest('section') ?? null;
    }
    /** A click beside everything takes the focus away as well, and leaves the element. */
    const forget = (): void =>
      queueMicrotask(() => {
        if (isLost() && focused?.isConnected) focused = null;
      });
    function keep(): void {
      if (focused === null || focused.isConnected || !isLost()) return;
      const replacement = section?.isConnected ? section.querySelector<HTMLElement>(REPLACEMENT) : null;
      (replacement ?? main.current?.querySelector('h1'))?.focus();
    }
    const observer = new MutationObserver(keep);
    if (main.current !== null) observer.observe(main.current, { childList: true, subtree: true });
    main.current?.addEventListener('focusin', follow);
    main.current?.addEventListener('focusout', forget);
    // The element of the listeners leaves the page with the screens.
    return () => observer.disconnect();
  }, []);
}
