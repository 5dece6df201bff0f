/**
 * An actor is a process that acts on the service from outside. It gets its settings when it starts, receives orders
 * over the IPC channel of the process that started it, and ends with that process.
 */
interface RunConnection<Settings> {
  settings: Settings;
  /** Reports that the actor is ready, with the values that others need. */
  ready(detail: Record<string, unknown>): void;
  onOrder(orders: Record<string, (detail: Record<string, string>) => void>): void;
  report(name: string): void;
}

export interface Order {
  order: string;
  detail: Record<string, string>;
}

export interface ActorMessage {
  name: string;
  detail: Record<string, unknown>;
}

export function connectToRun<Settings>(): RunConnection<Settings> {
  // Ctrl-C and SIGTERM reach the whole process group. The parent decides when this process ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  const report = (name: string, detail: Record<string, unknown> = {}): void => {
    const message: ActorMessage = { name, detail };
    process.send?.(message);
  };
  return {
    settings: JSON.parse(process.argv[2] ?? '{}'),
    ready: (detail) => report('ready', detail),
    onOrder(orders) {
      process.on('message', ({ order, detail }: Order) => orders[order]?.(detail));
    },
    report: (name) => report(name),
  };
}
