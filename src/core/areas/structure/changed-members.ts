/** Merge-patches: what of a row another value is asked for. Spec: general conventions, 8; decisions 1, Merge-patch. */

/** The members whose values differ, in their order; none is a patch that changes nothing. */
export function changedMembers<Row extends object>(row: Row, next: Partial<Row>): string[] {
  return Object.entries(next)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(row[name as keyof Row]))
    .map(([name]) => name)
}
