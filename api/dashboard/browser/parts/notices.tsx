import { useEffect, useState } from 'preact/hooks';

/** What an action has done, in words, for eyes and for screen readers. */
const SHOWN_MS = 8000;
let show: (text: string) => void = () => {};

export function say(text: string): void {
  show(text);
}

/** The live region is always in the document: screen readers announce changes only in a region that already existed. */
export function Notices() {
  const [text, setText] = useState('');
  useEffect(() => {
    show = setText;
    return () => {
      show = () => {};
    };
  }, []);
  useEffect(() => {
    if (text === '') return undefined;
    const timer = setTimeout(() => setText(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="notices" role="status" aria-live="polite">
      {text === '' ? null : <p>{text}</p>}
    </div>
  );
}
