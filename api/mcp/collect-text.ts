import { Refusal } from '../../shared/errors/refusal.js';
import { TOOL_ANSWER_BYTES } from '../../shared/limits/bounds.js';

/** Collects a response into one string, limited to a length that an agent can read. */
export async function collectText(text: string | AsyncIterable<string>): Promise<string> {
  if (typeof text === 'string') return text;
  const pieces: string[] = [];
  let bytes = 0;
  for await (const piece of text) {
    bytes += Buffer.byteLength(piece);
    if (bytes > TOOL_ANSWER_BYTES) {
      throw new Refusal(
        'parameter_invalid',
        'This answer is too long for a tool. Ask for fewer objects with limit, or leave expand out; the REST API gives it whole.',
      );
    }
    pieces.push(piece);
  }
  return pieces.join('');
}
