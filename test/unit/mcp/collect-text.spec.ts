import assert from 'node:assert/strict';
import { collectText } from '../../../api/mcp/collect-text.js';
import { TOOL_ANSWER_BYTES } from '../../../shared/limits/bounds.js';

describe('the answer of a tool', () => {
  async function* inPieces(bytes: number): AsyncGenerator<string> {
    yield 'é'.repeat(1000);
    yield 'x'.repeat(bytes - 2000);
  }

  it('has at most so many bytes, not characters', async () => {
    const text = await collectText(inPieces(TOOL_ANSWER_BYTES));
    assert.equal(Buffer.byteLength(text), TOOL_ANSWER_BYTES);
    await assert.rejects(collectText(inPieces(TOOL_ANSWER_BYTES + 1)), { code: 'parameter_invalid' });
  });
});
