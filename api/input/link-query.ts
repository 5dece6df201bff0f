/** Far more than the parameters of a link and of the sites that share it. */
const MAX_QUERY_LENGTH = 4096;

/** The parameters of a link's URL. A longer query counts as none. */
export function linkQuery(url: string): URLSearchParams {
  const start = url.indexOf('?');
  const query = start === -1 ? '' : url.slice(start + 1);
  return new URLSearchParams(query.length > MAX_QUERY_LENGTH ? '' : query);
}
