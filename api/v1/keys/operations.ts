import { deleteAccountKey, listAccountKeys, readAccountKeys } from '../../../shared/accounts/account-keys.js';
import { presentAccountKey, presentDeletedApiKey } from '../../../shared/accounts/present.js';
import type { Deps } from '../../deps/deps.js';
import { inputParser, parseNothing } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import { objectId, operation, writingOperation } from '../operation/operation.js';
import { ListKeys } from './schema.js';

const parseList = inputParser(ListKeys);

/** Creating a key needs a facilitator token instead of a checkout key: see sign-up.ts. */
export function keyOperations({ connections, heavyAnswers, keyUses, recentWrites }: Deps) {
  return {
    listKeys: operation(parseList, async (call, query) => {
      const { principal } = call;
      // Writes buffered uses first, so that the key of this request is listed as used.
      await keyUses.write();
      const db = connections.of(principal.accountId);
      const page = await listAccountKeys(db, principal, pageRequest(query));
      return answerList(heavyAnswers, call, page, {
        url: '/v1/keys',
        present: ({ key, account }) => presentAccountKey(key, account),
        read: (ids) => readAccountKeys(db, principal, ids),
      });
    }),
    deleteKey: writingOperation({ recentWrites }, parseNothing, async (call) => {
      const id = objectId(call, 'API key');
      await deleteAccountKey(connections.of(call.principal.accountId), call.principal, id);
      return presentDeletedApiKey(id);
    }),
  };
}
