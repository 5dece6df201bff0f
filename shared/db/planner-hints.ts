/** Hides a value from the planner, which then keeps one plan. Planning each execution anew takes longer than the execution. */
export const hiddenFromPlanner = (value: string): string => `(SELECT ${value})`;

/** Always true. The planner then expects one row, and looks up each by its key, also when tables are small. */
export const expectsOneRow = (id: string): string => `${id} = ${id} || ''`;
