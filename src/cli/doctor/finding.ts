/** The result of one check of `svc doctor`. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly says: string
  /** What to do; null if nothing needs to be done. */
  readonly remedy: string | null
}

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says, remedy: null })
export const warn = (check: string, says: string, remedy: string): Finding => ({ check, state: 'warn', says, remedy })
export const fail = (check: string, says: string, remedy: string): Finding => ({ check, state: 'fail', says, remedy })

/** A thrown error as one line. */
export function lineOf(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: readonly unknown[] }
  if (message) return message.split('\n')[0] ?? message
  return errors?.[0] === undefined ? (code ?? String(error)) : lineOf(errors[0])
}
