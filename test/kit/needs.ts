/**
 * Tests of what is not everywhere: a program, or a right of the user. Where it is missing they are skipped, and one line on
 * stderr says which, and what they need.
 */
export function shows(what: string, needs: string, isThere: boolean): boolean {
  if (!isThere) process.stderr.write(`\nNot shown: ${what}. It needs ${needs}.\n`)
  return isThere
}
