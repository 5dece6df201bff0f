const AT_ONCE = 5;
const waiting: (() => void)[] = [];
let isScheduled = false;

/** Runs the callers that waited for the same answer, a few in each turn of the event loop. */
export function inTurns(goOn: () => void): void {
  waiting.push(goOn);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    for (const goOn of waiting.splice(0, AT_ONCE)) goOn();
    if (waiting.length > 0) schedule();
  });
}
