/**
 * One who acts from outside the service, in a process of its own: it is told its settings when it is started, hears
 * orders over the channel to the process that started it, and ends with it.
 */
export interface Actor<Settings> {
  settings: Settings;
  /** Says that it is ready, and what others need to know of it. */
  ready(said: Record<string, unknown>): void;
  hear(orders: Record<string, (detail: Record<string, string>) => void>): void;
  tell(name: string): void;
}

export interface Order {
  order: string;
  detail: Record<string, string>;
}

export interface Told {
  told: string;
  said: Record<string, unknown>;
}

export function becomeActor<Settings>(): Actor<Settings> {
  process.on('disconnect', () => process.exit(0));
  // It may have ended while this one was starting.
  if (!process.connected) process.exit(0);
  // Ctrl-C and SIGTERM reach the whole group: whoever started this ends it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  const tell = (told: string, said: Record<string, unknown> = {}): void => {
    const message: Told = { told, said };
    process.send?.(message);
  };
  return {
    settings: JSON.parse(process.argv[2] ?? '{}'),
    ready: (said) => tell('ready', said),
    hear(orders) {
      process.on('message', ({ order, detail }: Order) => orders[order]?.(detail));
    },
    tell: (name) => tell(name),
  };
}
