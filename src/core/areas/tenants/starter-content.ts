/**
 * The starter content of a new workspace, in its own language: the hub, an example collection, the
 * standard buckets (the last is the done bucket) and labels. English for all other languages.
 * Spec: Admin: workspaces, rule 1.
 */
export interface Starter {
  readonly hub: string
  readonly collection: string
  readonly buckets: readonly [string, string, string]
  readonly labels: readonly [string, string, string, string]
}

/** Color tokens of the labels, in their order; a client maps them to its own palette. */
export const labelColors = ['red', 'amber', 'blue', 'green'] as const

const starters: Readonly<Record<string, Starter>> = {
  en: {
    hub: 'Home',
    collection: 'Example project',
    buckets: ['To do', 'In progress', 'Done'],
    labels: ['Urgent', 'Waiting', 'Question', 'Idea'],
  },
  de: {
    hub: 'Start',
    collection: 'Beispielprojekt',
    buckets: ['Zu erledigen', 'In Arbeit', 'Erledigt'],
    labels: ['Dringend', 'Wartet', 'Frage', 'Idee'],
  },
  fr: {
    hub: 'Accueil',
    collection: 'Projet exemple',
    buckets: ['À faire', 'En cours', 'Terminé'],
    labels: ['Urgent', 'En attente', 'Question', 'Idée'],
  },
  es: {
    hub: 'Inicio',
    collection: 'Proyecto de ejemplo',
    buckets: ['Por hacer', 'En curso', 'Hecho'],
    labels: ['Urgente', 'En espera', 'Pregunta', 'Idea'],
  },
  it: {
    hub: 'Inizio',
    collection: 'Progetto di esempio',
    buckets: ['Da fare', 'In corso', 'Fatto'],
    labels: ['Urgente', 'In attesa', 'Domanda', 'Idea'],
  },
  nl: {
    hub: 'Start',
    collection: 'Voorbeeldproject',
    buckets: ['Te doen', 'Mee bezig', 'Klaar'],
    labels: ['Dringend', 'Wacht', 'Vraag', 'Idee'],
  },
  pt: {
    hub: 'Início',
    collection: 'Projeto de exemplo',
    buckets: ['A fazer', 'Em andamento', 'Concluído'],
    labels: ['Urgente', 'Aguardando', 'Pergunta', 'Ideia'],
  },
  pl: {
    hub: 'Start',
    collection: 'Przykładowy projekt',
    buckets: ['Do zrobienia', 'W toku', 'Gotowe'],
    labels: ['Pilne', 'Oczekuje', 'Pytanie', 'Pomysł'],
  },
  sv: {
    hub: 'Start',
    collection: 'Exempelprojekt',
    buckets: ['Att göra', 'Pågår', 'Klart'],
    labels: ['Brådskande', 'Väntar', 'Fråga', 'Idé'],
  },
  da: {
    hub: 'Start',
    collection: 'Eksempelprojekt',
    buckets: ['Skal gøres', 'I gang', 'Færdig'],
    labels: ['Haster', 'Venter', 'Spørgsmål', 'Idé'],
  },
  cs: {
    hub: 'Domů',
    collection: 'Ukázkový projekt',
    buckets: ['Udělat', 'Probíhá', 'Hotovo'],
    labels: ['Naléhavé', 'Čeká', 'Otázka', 'Nápad'],
  },
  ja: {
    hub: 'ホーム',
    collection: 'サンプルプロジェクト',
    buckets: ['未着手', '進行中', '完了'],
    labels: ['至急', '待機中', '質問', 'アイデア'],
  },
}

const english = starters['en'] as Starter

/** The starter content in the locale's language, e.g. `de` for `de-AT`. */
export const starterContentFor = (locale: string): Starter => starters[new Intl.Locale(locale).language] ?? english
