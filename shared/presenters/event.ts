import { API_VERSION } from '../domain/webhook-event.js';
import { createdSeconds } from './timestamp.js';

export interface StoredEvent {
  id: string;
  livemode: boolean;
  type: string;
  /** JSON as it was stored, so that every delivery of an event has the same bytes. */
  objectText: string;
}

export function renderEvent({ id, livemode, type, objectText }: StoredEvent): string {
  const head = { id, object: 'event', api_version: API_VERSION, created: createdSeconds(id), livemode, type };
  return `${JSON.stringify(head).slice(0, -1)},"data":{"object":${objectText}}}`;
}
