export interface WireList<T> {
  object: 'list';
  url: string;
  has_more: boolean;
  data: T[];
}

export function presentList<T>(url: string, data: T[], hasMore: boolean): WireList<T> {
  return { object: 'list', url, has_more: hasMore, data };
}
