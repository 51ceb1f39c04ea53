/** What a portion of a run took. */
export interface Taken {
  readonly removed: number
  /** Rows that are due and that a hold covers; known with the last portion. */
  readonly held: number
  readonly isMore: boolean
}
