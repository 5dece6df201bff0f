import { createHash } from 'node:crypto';

/** A script or style sheet inside a document, and what allows it in the content security policy: the hash of its text. */
export interface Inlined {
  element: string;
  source: string;
}

/**
 * Texts that end the element early or change how a browser reads it; a browser reads CR as LF, and hashes its own reading.
 */
const UNREADABLE = /<\/(script|style)|<!--|[\r\0]/i;

export function inline(tag: 'script' | 'style', text: string): Inlined {
  if (UNREADABLE.test(text))
    throw new Error(`a ${tag} cannot be inside a document: ${UNREADABLE.exec(text)}`);
  const hash = createHash('sha256').update(text).digest('base64');
  return { element: `<${tag}>${text}</${tag}>`, source: `'sha256-${hash}'` };
}
