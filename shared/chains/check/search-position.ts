/**
 * How far the search for a payment on its chain has come, stored for the next check. Only the adapter that wrote it reads
 * it; a value that the adapter cannot use starts the search again.
 */
export type SearchPosition = Readonly<Record<string, string | number | boolean | null>>;
