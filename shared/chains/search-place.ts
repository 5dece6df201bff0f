/**
 * How far the search for a payment on its chain has come, for the next look. It is read only by the adapter that wrote
 * it, which begins anew when it cannot use it.
 */
export type SearchPlace = Readonly<Record<string, string | number | boolean | null>>;
