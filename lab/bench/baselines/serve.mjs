/** What every baseline does: production settings from the environment, no more. */
export const port = Number(process.env.PORT);

process.on('SIGTERM', () => process.exit(0));
