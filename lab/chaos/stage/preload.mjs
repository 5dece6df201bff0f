/**
 * Loaded first into each service process: it ends when its standard input does, which is a pipe from the one that
 * started it; and its clock is off by what the environment says.
 */
process.stdin.resume().once('close', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.unref();

const offsetMs = Number(process.env.CHAOS_CLOCK_OFFSET_MS ?? 0);

if (offsetMs !== 0) {
  const RealDate = Date;
  globalThis.Date = class ShiftedDate extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offsetMs);
      else super(...parts);
    }

    static now() {
      return RealDate.now() + offsetMs;
    }
  };
}
