/** The kinds of values that variables of the environment have. Spec: decisions 6, Process interface. */
import { z } from 'zod'

export const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, `must be a whole number`)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))

/** A text that `read` can parse; its fault becomes the issue. */
export const readable = <T extends object>(read: (text: string) => T | { readonly fault: string }) =>
  z.string().check((context) => {
    const made = read(context.value)
    if ('fault' in made) context.issues.push({ code: 'custom', input: context.value, message: made.fault })
  })

/** A value that no command prints. */
export const secret = <T extends z.ZodType>(value: T): T => value.meta({ secret: true })
