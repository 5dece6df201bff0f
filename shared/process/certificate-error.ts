/** Node's codes for a certificate that it does not accept. */
const CERTIFICATE_CODES = /^(ERR_TLS_CERT_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/;

export function isCertificateError(error: Error): boolean {
  return 'code' in error && CERTIFICATE_CODES.test(String(error.code));
}
