/**
 * The `Link` header of a link's answers: where an agent finds what describes this service, and where it may look, without
 * being counted in the link's limit, how a session stands.
 */
export interface LinkRelations {
  /** Where there is no session. */
  always: string;
  of(sessionId: string): string;
}

export function linkRelations(baseUrl: string): LinkRelations {
  const path = new URL(baseUrl).pathname.replace(/\/$/, '');
  const always = `<${path}/openapi.json>; rel="service-desc", <${path}/llms.txt>; rel="service-doc"`;
  return { always, of: (sessionId) => `${always}, <${path}/c/${sessionId}/status>; rel="monitor"` };
}
