/**
 * Whether many people choose this password: by the shipped list, and by the operator's own
 * (blocklist.ts).
 *
 * Three forms are compared, in lower case: the password itself, the shorter text that it repeats,
 * and the word without the digits and symbols around it, because attackers guess `dragon12345!`
 * right after `dragon`. The removed part must not be longer than the rest, so that a word inside a
 * long random password does no harm.
 *
 * The time is linear in the length of the password; entries of the list are never run as patterns.
 */
import { commonPasswords } from './common-passwords.ts'

let shipped: ReadonlySet<string> | undefined

/** Whether any form of the password is on the shipped list, or on another. */
export function isCommonPassword(password: string, isOnOtherList: (form: string) => boolean = () => false): boolean {
  shipped ??= new Set(commonPasswords.trim().split(/\s+/))
  const list = shipped
  return isRepetition(password) || formsOf(password).some((form) => list.has(form) || isOnOtherList(form))
}

/** `121212121212`, `abcabcabc`: at most four characters, three times or more. */
const isRepetition = (password: string) => {
  const unit = unitOf(password.toLowerCase())
  return unit.length <= 4 && unit.length * 3 <= password.length
}

/** The forms that are looked up, without duplicates. */
export function formsOf(password: string): readonly string[] {
  const whole = password.toLowerCase()
  const forms = [whole, unitOf(whole)]
  return [...new Set([...forms, ...forms.map(wordOf)])]
}

/** `abcabcabc` → `abc`: the shortest text that the password repeats. */
function unitOf(text: string): string {
  const at = `${text}${text}`.indexOf(text, 1)
  return at > 0 && at < text.length ? text.slice(0, at) : text
}

const isLetter = (sign: string | undefined) => sign !== undefined && /\p{L}/u.test(sign)

/** `!!dragon12345` → `dragon`; the text itself where less than half of it would be left. */
function wordOf(text: string): string {
  const signs = [...text]
  let from = 0
  let to = signs.length
  while (from < to && !isLetter(signs[from])) from += 1
  while (to > from && !isLetter(signs[to - 1])) to -= 1
  return (to - from) * 2 >= signs.length ? signs.slice(from, to).join('') : text
}
