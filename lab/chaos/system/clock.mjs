/** Loaded first into each service process: its clock is shifted by an environment variable. */
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
