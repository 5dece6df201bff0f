/** A parser for the part of PromQL that rules and dashboards use. */
interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

interface PromQuery {
  selectors: Selector[];
  /** The labels of grouping clauses. */
  labels: string[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[a-zA-Z_:][\w:]*|=~|!~|!=|[={}(),]/g;
const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset']);

export function readPromQl(expression: string): PromQuery {
  const tokens = expression.match(TOKEN) ?? [];
  const asked: PromQuery = { selectors: [], labels: [] };
  let at = 0;
  const until = (end: string): string[] => {
    const begin = at;
    while (tokens[at] !== end && at < tokens.length) at += 1;
    return tokens.slice(begin, at);
  };
  while (at < tokens.length) {
    const token = tokens[at] ?? '';
    at += 1;
    if (GROUPING.has(token) && tokens[at] === '(') {
      at += 1;
      asked.labels.push(...until(')').filter((name) => name !== ','));
    } else if (/^[a-zA-Z_]/.test(token) && !KEYWORDS.has(token) && !isCalled(tokens[at])) {
      const selector: Selector = { metric: token, matchers: [] };
      if (tokens[at] === '{') {
        at += 1;
        selector.matchers = readMatchers(until('}'));
      }
      asked.selectors.push(selector);
    }
  }
  return asked;
}

/** Whether the name is a function, or an aggregation before its labels. */
function isCalled(next: string | undefined): boolean {
  return next === '(' || (next !== undefined && GROUPING.has(next));
}

function readMatchers(tokens: readonly string[]): Selector['matchers'] {
  const parts = tokens.filter((token) => token !== ',');
  const matchers: Selector['matchers'] = [];
  for (let at = 0; at < parts.length; at += 3) {
    const [label = '', operator = '', value = '""'] = parts.slice(at, at + 3);
    matchers.push({ label, operator, value: JSON.parse(value) });
  }
  return matchers;
}

/** A series of a metrics page. */
export interface Series {
  metric: string;
  labels: Record<string, string>;
}

export function readSeries(page: string): Series[] {
  return page.split('\n').flatMap((line) => {
    const [, metric, inner = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === undefined) return [];
    const pairs = [...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
    return [
      { metric, labels: Object.fromEntries(pairs.map(([, label = '', value = '']) => [label, value])) },
    ];
  });
}

/** The parts of a query that match no series; `known` are labels that Prometheus adds to each. */
export function missingSeries(
  { selectors, labels }: PromQuery,
  series: readonly Series[],
  known: string[],
): string[] {
  const metrics = selectors.map(({ metric }) => series.filter((one) => one.metric === metric));
  const groups = labels.filter(
    (label) => !known.includes(label) && !metrics.flat().some((one) => label in one.labels),
  );
  const missing = selectors.flatMap((selector, index) =>
    alternatives(selector)
      .filter((wanted) => !metrics[index]?.some((one) => matches(one, wanted, known)))
      .map(({ metric, matchers }) => `${metric}${JSON.stringify(matchers)}`),
  );
  return [...groups, ...missing];
}

/** Expands a pattern into one selector for each of its words, each of which must exist. */
function alternatives(selector: Selector): Selector[] {
  let all = [selector];
  selector.matchers.forEach(({ label, operator, value }, index) => {
    if (operator !== '=~') return;
    all = all.flatMap((one) =>
      value.split('|').map((word) => ({
        ...one,
        matchers: one.matchers.with(index, { label, operator, value: word }),
      })),
    );
  });
  return all;
}

function matches({ labels }: Series, { matchers }: Selector, known: string[]): boolean {
  return matchers.every(({ label, operator, value }) => {
    if (known.includes(label)) return true;
    const found = labels[label] ?? '';
    const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(found) : found === value;
    return operator.startsWith('!') ? !isEqual : isEqual;
  });
}
