/** How long a deletion can be called back. Spec: Workspace states, row 3; decisions 4. */
export const graceDays = 30
