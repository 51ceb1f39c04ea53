/** The languages that mails are written in: those that workspaces start in (areas/tenants/starter-content.ts). */
export const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'sv', 'da', 'cs', 'ja'] as const
export type Language = (typeof languages)[number]

/** What one kind of mail says. `{workspace}`, `{moment}` and what the kind names besides are filled in. */
export interface Text {
  readonly subject: string
  /** Paragraphs. */
  readonly says: readonly string[]
  /** What the link is called, in a mail that has one. */
  readonly action?: string
}

export type InEveryLanguage<Said = Text> = Readonly<Record<Language, Said>>

const isLanguage = (tag: string): tag is Language => (languages as readonly string[]).includes(tag)

/** The language of a locale's mails, e.g. `de` for `de-AT`; English where there are none in its own. */
export function languageOf(locale: string): Language {
  const { language } = new Intl.Locale(locale)
  return isLanguage(language) ? language : 'en'
}
