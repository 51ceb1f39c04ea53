/** What a rule answers whose operation does some bodies by a job: sent with 202, in the form of `success.queued`. */
export class Queued {
  readonly answer: unknown

  constructor(answer: unknown) {
    this.answer = answer
  }
}
