/** The payment link of a session or a refund, for people and agents alike. */
export function paymentLinkUrl(payableId: string, baseUrl: string): string {
  return `${baseUrl}/c/${payableId}`;
}
