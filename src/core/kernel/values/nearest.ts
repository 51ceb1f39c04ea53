/** What a mistyped word most likely meant. */
import { closest, distance } from 'fastest-levenshtein'

/** The known word that differs least: by a third of its letters, or by two that changed places; undefined where none is so near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const found = closest(word, known)
  const apart = distance(word, found)
  return apart < word.length && apart <= Math.max(2, Math.floor(found.length / 3)) ? found : undefined
}
