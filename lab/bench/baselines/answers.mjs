/** The same answers for the baselines with Express and without. */
export const created = (row) => ({
  id: row.id,
  object: 'checkout.session',
  amount_total: row.amount,
  currency: 'usd',
  livemode: row.livemode,
  status: row.status,
  created: Math.floor(row.created.getTime() / 1000),
  metadata: row.data.metadata ?? {},
  url: `http://localhost/c/${row.id}`,
});

export const read = (row) => ({
  id: row.id,
  object: 'checkout.session',
  amount_total: Number(row.amount_total_cents),
  currency: 'usd',
  livemode: row.livemode,
  status: row.status,
  metadata: row.metadata,
  success_url: row.success_url,
  expires_at: Math.floor(row.expires_at.getTime() / 1000),
  url: `http://localhost/c/${row.id}`,
});
