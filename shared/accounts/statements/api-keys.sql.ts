export const KEYS_BY_SECRET = {
  name: 'keys_by_secret',
  text: `
    SELECT (asked.n - 1)::int AS index, key.id, key.account_id AS "accountId", key.livemode,
      key.revoked_at IS NOT NULL AS "isRevoked"
    FROM unnest($1::text[]) WITH ORDINALITY AS asked (hash, n)
    CROSS JOIN LATERAL (SELECT * FROM api_keys WHERE secret_sha256 = decode(asked.hash, 'base64') OFFSET 0) key`,
};
