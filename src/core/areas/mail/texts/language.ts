/** The languages of mails, the same as those of the starter content (areas/tenants/starter-content.ts). */
export const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'sv', 'da', 'cs', 'ja'] as const
export type Language = (typeof languages)[number]

/** The text of one kind of mail. `{workspace}`, `{moment}` and the members that the kind `reads` are filled in. */
export interface Text {
  readonly subject: string
  /** Paragraphs. */
  readonly says: readonly string[]
  /** The label of the link, in a mail with a link. */
  readonly action?: string
}

export type InEveryLanguage<Said = Text> = Readonly<Record<Language, Said>>

const isLanguage = (tag: string): tag is Language => (languages as readonly string[]).includes(tag)

/** The language of a locale's mails, e.g. `de` for `de-AT`; English if the locale's language has no mails. */
export function languageOf(locale: string): Language {
  const { language } = new Intl.Locale(locale)
  return isLanguage(language) ? language : 'en'
}
