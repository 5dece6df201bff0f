/** Shared by all baselines: the port from the environment, and a clean exit. */
export const port = Number(process.env.PORT);

process.on('SIGTERM', () => process.exit(0));
