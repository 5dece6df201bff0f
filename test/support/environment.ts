/** Sets variables of the environment, which commands read. The result sets them back. */
export function setEnvironment(variables: Record<string, string>): () => void {
  const earlier = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of earlier) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

/** Sets variables for the rest of the file. */
export function useEnvironment(read: () => Record<string, string>): void {
  let restore = (): void => {};
  before(() => {
    restore = setEnvironment(read());
  });
  after(() => restore());
}
