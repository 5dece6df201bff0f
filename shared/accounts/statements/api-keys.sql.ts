/** A read-only key is stored as the hash of the hash. */
export const KEYS_BY_SECRET = {
  name: 'keys_by_secret',
  text: `
    SELECT (asked.n - 1)::int AS index, key.id, key.account_id AS "accountId", key.livemode, key.access,
      key.revoked_at IS NOT NULL AS "isRevoked"
    FROM unnest($1::text[]) WITH ORDINALITY AS asked (hash, n)
    CROSS JOIN LATERAL (
      SELECT * FROM api_keys
      WHERE secret_sha256 IN (decode(asked.hash, 'base64'), sha256(decode(asked.hash, 'base64'))) OFFSET 0
    ) key`,
};
