/** Stems of words, by PostgreSQL's Snowball dictionaries. Spec: Work on boards, 2, N4. */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Stems } from './vector.ts'

/** Dictionaries by the language of a locale; PostgreSQL 15 has them all. */
const dictionaries: Readonly<Record<string, string>> = {
  ar: 'arabic_stem',
  ca: 'catalan_stem',
  da: 'danish_stem',
  de: 'german_stem',
  el: 'greek_stem',
  en: 'english_stem',
  es: 'spanish_stem',
  eu: 'basque_stem',
  fi: 'finnish_stem',
  fr: 'french_stem',
  ga: 'irish_stem',
  hi: 'hindi_stem',
  hu: 'hungarian_stem',
  hy: 'armenian_stem',
  id: 'indonesian_stem',
  it: 'italian_stem',
  lt: 'lithuanian_stem',
  nb: 'norwegian_stem',
  ne: 'nepali_stem',
  nl: 'dutch_stem',
  nn: 'norwegian_stem',
  no: 'norwegian_stem',
  pt: 'portuguese_stem',
  ro: 'romanian_stem',
  ru: 'russian_stem',
  sr: 'serbian_stem',
  sv: 'swedish_stem',
  ta: 'tamil_stem',
  tr: 'turkish_stem',
  yi: 'yiddish_stem',
}

/** The dictionary of a locale; `simple` has no stems. */
export const dictionaryOf = (locale: string): string => dictionaries[locale.split('-')[0] ?? ''] ?? 'simple'

/** The stems of words as a JSON object, in SQL; a word that says nothing (the, of) has null. `dictionary`: its name. */
export const stemsIn = (tx: Tx, dictionary: Part, words: readonly string[]): Part => tx.part`
  (select coalesce(jsonb_object_agg(w, (ts_lexize(${dictionary}::text::regdictionary, w))[1]), '{}'::jsonb)
   from (select distinct w from jsonb_array_elements_text(${tx.json(words)}) w) w)`

/** Stems are written into texts of PostgreSQL: letters and digits alone. */
export function stemsOf(found: Readonly<Record<string, string | null>>): Stems {
  const stems = new Map<string, string>()
  for (const [word, stem] of Object.entries(found))
    if (stem !== null && /^[\p{L}\p{N}]+$/u.test(stem)) stems.set(word, stem)
  return stems
}

export async function readStems(tx: Tx, dictionary: string, words: readonly string[]): Promise<Stems> {
  if (words.length === 0 || dictionary === 'simple') return new Map()
  const [row] = await tx<{ stems: Record<string, string | null> }[]>`
    select ${stemsIn(tx, tx.part`${dictionary}`, words)} as stems`
  return stemsOf(row?.stems ?? {})
}
