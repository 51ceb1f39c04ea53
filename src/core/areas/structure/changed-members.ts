/** Merge-patches: which members of a row a patch changes. Spec: general conventions, 8; decisions 1, Merge-patch. */

/** The members whose values differ, in their order; empty if the patch changes nothing. */
export function changedMembers<Row extends object>(row: Row, next: Partial<Row>): string[] {
  return Object.entries(next)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(row[name as keyof Row]))
    .map(([name]) => name)
}
