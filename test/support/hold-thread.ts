const never = new Int32Array(new SharedArrayBuffer(4));

/** Holds this thread and its event loop, as a long computation does, without taking the processor from other processes. */
export function holdThread(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}
