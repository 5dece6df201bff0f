import type { Request, RequestHandler } from 'express';
import { createAgentKey } from '../../../shared/accounts/agent-keys.js';
import type { FacilitatorKey } from '../../../shared/accounts/model.js';
import { presentNewApiKey } from '../../../shared/accounts/present.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import type { Deps } from '../../deps/deps.js';
import { inputParser } from '../../input/input-parser.js';
import { bearerToken } from '../../middleware/authenticate.js';
import { consumeAccount, limitRefused } from '../../middleware/rate-limit.js';
import { readBody } from '../../middleware/read-body.js';
import { answerOnce } from '../operation/answer-once.js';
import { keyAndPathOf, sendAnswer, soleBodyOf } from '../operation/serve-operation.js';
import { verifyFacilitatorToken } from './facilitator-token.js';
import { CreateKey } from './schema.js';

const parseCreate = inputParser(CreateKey);
const DEFAULT_NAME = 'Agent key';

/** `POST /v1/keys` is authenticated with a token signed by a facilitator key, not with a checkout key. */
export function agentSignUp(deps: Deps): RequestHandler[] {
  const { db, connections, secretBox, apiRateLimiter, addressLimiters } = deps;
  const signers = new WeakMap<Request, FacilitatorKey>();
  const signerOf = (req: Request): FacilitatorKey => {
    const signer = signers.get(req);
    if (signer === undefined) throw new Error('the token was not verified');
    return signer;
  };

  return [
    async (req, res, next) => {
      res.setHeader('Cache-Control', 'no-store');
      const token = bearerToken(req.headers.authorization);
      if (token === undefined) {
        throw new Refusal(
          'token_missing',
          'No token was sent. Send a JWT signed with your facilitator key as "Authorization: Bearer <JWT>".',
        );
      }
      const signer = await limitRefused(addressLimiters, req, verifyFacilitatorToken(db, token));
      signers.set(req, signer);
      await consumeAccount(apiRateLimiter, { accountId: signer.accountId, livemode: true });
      next();
    },
    readBody(deps),
    async (req, res) => {
      const input = parseCreate(soleBodyOf(req));
      const { livemode = true, name = DEFAULT_NAME } = input;
      const signer = signerOf(req);
      const scope = { accountId: signer.accountId, livemode };
      const keyed = { ...keyAndPathOf(req), input, scope, principal: undefined };
      const answer = await answerOnce(deps, keyed, (idempotent) =>
        createAgentKey(connections.of(signer.accountId), signer, { livemode, name }, secretBox, {
          render: ({ key, secret, account }) => JSON.stringify(presentNewApiKey(key, secret, account)),
          idempotent,
        }),
      );
      await sendAnswer(res, answer);
    },
  ];
}
