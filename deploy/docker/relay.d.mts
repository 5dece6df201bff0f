import type { Server } from 'node:http';

interface Place {
  host: string;
  port: number;
}

export function relay(between: { from: Place; to: Place }): Promise<Server>;
