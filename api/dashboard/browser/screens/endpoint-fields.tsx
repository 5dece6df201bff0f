import { EVENT_TYPES } from '../../../../shared/webhooks/event-types.js';
import type { Endpoint } from '../api/objects.js';
import { Field } from '../parts/field.js';

interface EndpointValues {
  url: string;
  description: string;
  events: readonly string[];
}

export const EMPTY_ENDPOINT: EndpointValues = { url: '', description: '', events: ['*'] };

export function valuesOf({ url, description, enabled_events: events }: Endpoint): EndpointValues {
  return { url, description: description ?? '', events };
}

/** An empty description clears it; no event is every event. */
export function endpointBody({ url, description, events }: EndpointValues): object {
  return { url, description, enabled_events: events.length === 0 ? ['*'] : events };
}

/** The fields that the merchant has changed: another tab may have changed the other fields meanwhile. */
export function changedBody(before: EndpointValues, values: EndpointValues): object {
  const began = new Map(Object.entries(endpointBody(before)));
  const isChanged = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(began.get(name)) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(endpointBody(values)).filter(isChanged));
}

interface EndpointFieldsProps {
  values: EndpointValues;
  onValues(values: EndpointValues): void;
}

export function EndpointFields({ values, onValues }: EndpointFieldsProps) {
  const { url, description, events } = values;
  const isEvery = events.includes('*') || events.length === 0;
  function toggle(type: string): void {
    const chosen = events.filter((one) => one !== '*');
    const next = chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type];
    onValues({ ...values, events: next });
  }
  return (
    <>
      <Field
        label="URL"
        type="url"
        value={url}
        onValue={(value) => onValues({ ...values, url: value })}
        isRequired
        longest={2048}
        hint="Events are sent here by POST."
      />
      <Field
        label="Description"
        value={description}
        onValue={(value) => onValues({ ...values, description: value })}
        longest={500}
        hint="Optional."
      />
      <fieldset>
        <legend>Events</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={isEvery}
            onChange={() => onValues({ ...values, events: isEvery ? [...EVENT_TYPES] : ['*'] })}
          />
          Every event, those of later releases included
        </label>
        {isEvery
          ? null
          : EVENT_TYPES.map((type) => (
              <label class="check" key={type}>
                <input type="checkbox" checked={events.includes(type)} onChange={() => toggle(type)} />
                <code>{type}</code>
              </label>
            ))}
      </fieldset>
    </>
  );
}
