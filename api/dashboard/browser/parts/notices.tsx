import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 8000;
let show: (text: string) => void = () => {};

/** Says the result of an action, to eyes and to screen readers. */
export function notify(text: string): void {
  show(text);
}

/** The live region is always in the document: screen readers announce changes only in a region that already existed. */
export function Notices() {
  // A new object each time, so that a sentence that is said again is shown for its whole time.
  const [notice, setNotice] = useState({ text: '' });
  useEffect(() => {
    show = (text) => setNotice({ text });
    return () => {
      show = () => {};
    };
  }, []);
  useEffect(() => {
    if (notice.text === '') return undefined;
    const timer = setTimeout(() => setNotice({ text: '' }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notice.text === '' ? null : <p>{notice.text}</p>}
    </div>
  );
}
