/** Mails about restores. Spec: Keeping, 3. */
import type { InEveryLanguage } from './language.ts'

/** A rewind. */
export const rewound: InEveryLanguage = {
  en: {
    subject: '{workspace} was rewound',
    says: [
      'The workspace {workspace} was set back on {moment} to how it was at {snapshot_at}. Read anew what you had open. For some days this can be undone.',
    ],
  },
  de: {
    subject: '{workspace} wurde zurückgesetzt',
    says: [
      'Der Arbeitsbereich {workspace} wurde auf den Stand von {snapshot_at} zurückgesetzt ({moment}). Laden Sie neu, was Sie geöffnet hatten. Einige Tage lang lässt sich das rückgängig machen.',
    ],
  },
  fr: {
    subject: '{workspace} a été ramené en arrière',
    says: [
      'L’espace de travail {workspace} a été ramené à son état de {snapshot_at} ({moment}). Rechargez ce que vous aviez ouvert. Pendant quelques jours, cela peut être annulé.',
    ],
  },
  es: {
    subject: '{workspace} volvió a un estado anterior',
    says: [
      'El espacio de trabajo {workspace} volvió a su estado de {snapshot_at} ({moment}). Vuelva a cargar lo que tenía abierto. Durante unos días se puede deshacer.',
    ],
  },
  it: {
    subject: '{workspace} è stato riportato indietro',
    says: [
      'Lo spazio di lavoro {workspace} è stato riportato allo stato di {snapshot_at} ({moment}). Ricaricate ciò che avevate aperto. Per alcuni giorni si può annullare.',
    ],
  },
  nl: {
    subject: '{workspace} is teruggezet',
    says: [
      'De werkruimte {workspace} is teruggezet naar de toestand van {snapshot_at} ({moment}). Laad opnieuw wat u open had. Enkele dagen lang kan dit ongedaan worden gemaakt.',
    ],
  },
  pt: {
    subject: '{workspace} voltou a um estado anterior',
    says: [
      'O espaço de trabalho {workspace} voltou ao estado de {snapshot_at} ({moment}). Carregue de novo o que tinha aberto. Durante alguns dias isto pode ser desfeito.',
    ],
  },
  pl: {
    subject: '{workspace} cofnięto do wcześniejszego stanu',
    says: [
      'Przestrzeń roboczą {workspace} cofnięto do stanu z {snapshot_at} ({moment}). Należy ponownie wczytać to, co było otwarte. Przez kilka dni można to odwrócić.',
    ],
  },
  sv: {
    subject: '{workspace} har återställts till ett tidigare läge',
    says: [
      'Arbetsytan {workspace} har återställts till läget {snapshot_at} ({moment}). Läs in det du hade öppet på nytt. Under några dagar kan detta ångras.',
    ],
  },
  da: {
    subject: '{workspace} er sat tilbage',
    says: [
      'Arbejdsområdet {workspace} er sat tilbage til tilstanden fra {snapshot_at} ({moment}). Indlæs igen det, du havde åbent. I nogle dage kan det fortrydes.',
    ],
  },
  cs: {
    subject: '{workspace} byl vrácen do dřívějšího stavu',
    says: [
      'Pracovní prostor {workspace} byl vrácen do stavu z {snapshot_at} ({moment}). Načtěte znovu to, co jste měli otevřené. Po několik dní to lze vzít zpět.',
    ],
  },
  ja: {
    subject: '{workspace} を以前の状態に戻しました',
    says: [
      'ワークスペース {workspace} を {snapshot_at} の状態に戻しました({moment})。開いていたものを読み込み直してください。数日間は取り消すことができます。',
    ],
  },
}

/** A rewind that was taken back. */
export const rewindUndone: InEveryLanguage = {
  en: {
    subject: 'A rewind of {workspace} was undone',
    says: ['The last rewind of the workspace {workspace} was undone on {moment}. Read anew what you had open.'],
  },
  de: {
    subject: 'Eine Zurücksetzung von {workspace} wurde rückgängig gemacht',
    says: [
      'Die letzte Zurücksetzung des Arbeitsbereichs {workspace} wurde rückgängig gemacht ({moment}). Laden Sie neu, was Sie geöffnet hatten.',
    ],
  },
  fr: {
    subject: 'Un retour en arrière de {workspace} a été annulé',
    says: [
      'Le dernier retour en arrière de l’espace de travail {workspace} a été annulé ({moment}). Rechargez ce que vous aviez ouvert.',
    ],
  },
  es: {
    subject: 'Se deshizo una vuelta atrás de {workspace}',
    says: [
      'Se deshizo la última vuelta atrás del espacio de trabajo {workspace} ({moment}). Vuelva a cargar lo que tenía abierto.',
    ],
  },
  it: {
    subject: 'Un ritorno indietro di {workspace} è stato annullato',
    says: [
      'L’ultimo ritorno indietro dello spazio di lavoro {workspace} è stato annullato ({moment}). Ricaricate ciò che avevate aperto.',
    ],
  },
  nl: {
    subject: 'Een terugzetting van {workspace} is ongedaan gemaakt',
    says: [
      'De laatste terugzetting van de werkruimte {workspace} is ongedaan gemaakt ({moment}). Laad opnieuw wat u open had.',
    ],
  },
  pt: {
    subject: 'Um recuo de {workspace} foi desfeito',
    says: [
      'O último recuo do espaço de trabalho {workspace} foi desfeito ({moment}). Carregue de novo o que tinha aberto.',
    ],
  },
  pl: {
    subject: 'Cofnięcie {workspace} zostało odwrócone',
    says: [
      'Ostatnie cofnięcie przestrzeni roboczej {workspace} zostało odwrócone ({moment}). Należy ponownie wczytać to, co było otwarte.',
    ],
  },
  sv: {
    subject: 'En återgång av {workspace} har ångrats',
    says: [
      'Den senaste återgången av arbetsytan {workspace} har ångrats ({moment}). Läs in det du hade öppet på nytt.',
    ],
  },
  da: {
    subject: 'En tilbagesætning af {workspace} er fortrudt',
    says: [
      'Den seneste tilbagesætning af arbejdsområdet {workspace} er fortrudt ({moment}). Indlæs igen det, du havde åbent.',
    ],
  },
  cs: {
    subject: 'Vrácení {workspace} bylo vzato zpět',
    says: [
      'Poslední vrácení pracovního prostoru {workspace} bylo vzato zpět ({moment}). Načtěte znovu to, co jste měli otevřené.',
    ],
  },
  ja: {
    subject: '{workspace} を以前の状態に戻す操作を取り消しました',
    says: [
      'ワークスペース {workspace} を以前の状態に戻した直近の操作を取り消しました({moment})。開いていたものを読み込み直してください。',
    ],
  },
}

/** A workspace that came back, or came to be, from a backup. */
export const restored: InEveryLanguage = {
  en: {
    subject: '{workspace} was restored',
    says: ['The workspace {workspace} was restored on {moment} from a backup of {snapshot_at}.'],
  },
  de: {
    subject: '{workspace} wurde wiederhergestellt',
    says: ['Der Arbeitsbereich {workspace} wurde aus einer Sicherung von {snapshot_at} wiederhergestellt ({moment}).'],
  },
  fr: {
    subject: '{workspace} a été restauré',
    says: ['L’espace de travail {workspace} a été restauré ({moment}) à partir d’une sauvegarde de {snapshot_at}.'],
  },
  es: {
    subject: '{workspace} fue restaurado',
    says: [
      'El espacio de trabajo {workspace} fue restaurado ({moment}) a partir de una copia de seguridad de {snapshot_at}.',
    ],
  },
  it: {
    subject: '{workspace} è stato ripristinato',
    says: ['Lo spazio di lavoro {workspace} è stato ripristinato ({moment}) da un backup di {snapshot_at}.'],
  },
  nl: {
    subject: '{workspace} is hersteld',
    says: ['De werkruimte {workspace} is hersteld ({moment}) uit een back-up van {snapshot_at}.'],
  },
  pt: {
    subject: '{workspace} foi restaurado',
    says: [
      'O espaço de trabalho {workspace} foi restaurado ({moment}) a partir de uma cópia de segurança de {snapshot_at}.',
    ],
  },
  pl: {
    subject: '{workspace} przywrócono',
    says: ['Przestrzeń roboczą {workspace} przywrócono ({moment}) z kopii zapasowej z {snapshot_at}.'],
  },
  sv: {
    subject: '{workspace} har återskapats',
    says: ['Arbetsytan {workspace} har återskapats ({moment}) från en säkerhetskopia av {snapshot_at}.'],
  },
  da: {
    subject: '{workspace} er genskabt',
    says: ['Arbejdsområdet {workspace} er genskabt ({moment}) fra en sikkerhedskopi af {snapshot_at}.'],
  },
  cs: {
    subject: '{workspace} byl obnoven',
    says: ['Pracovní prostor {workspace} byl obnoven ({moment}) ze zálohy z {snapshot_at}.'],
  },
  ja: {
    subject: '{workspace} を復元しました',
    says: ['ワークスペース {workspace} を {snapshot_at} のバックアップから復元しました({moment})。'],
  },
}

/** To the workspace whose backup became another one. */
export const copied: InEveryLanguage = {
  en: {
    subject: '{workspace} was restored as another workspace',
    says: [
      'An operator restored a backup of the workspace {workspace} of {snapshot_at} as another workspace on {moment}. Your workspace was not changed.',
    ],
  },
  de: {
    subject: '{workspace} wurde als weiterer Arbeitsbereich wiederhergestellt',
    says: [
      'Eine Sicherung des Arbeitsbereichs {workspace} von {snapshot_at} wurde vom Betrieb als weiterer Arbeitsbereich wiederhergestellt ({moment}). Ihr Arbeitsbereich wurde nicht geändert.',
    ],
  },
  fr: {
    subject: '{workspace} a été restauré comme un autre espace de travail',
    says: [
      'Une sauvegarde de l’espace de travail {workspace} de {snapshot_at} a été restaurée par l’exploitant comme un autre espace de travail ({moment}). Votre espace de travail n’a pas été modifié.',
    ],
  },
  es: {
    subject: '{workspace} fue restaurado como otro espacio de trabajo',
    says: [
      'El operador restauró una copia de seguridad del espacio de trabajo {workspace} de {snapshot_at} como otro espacio de trabajo ({moment}). Su espacio de trabajo no ha cambiado.',
    ],
  },
  it: {
    subject: '{workspace} è stato ripristinato come un altro spazio di lavoro',
    says: [
      'Il gestore ha ripristinato un backup dello spazio di lavoro {workspace} di {snapshot_at} come un altro spazio di lavoro ({moment}). Il vostro spazio di lavoro non è cambiato.',
    ],
  },
  nl: {
    subject: '{workspace} is hersteld als een andere werkruimte',
    says: [
      'De beheerder heeft een back-up van de werkruimte {workspace} van {snapshot_at} hersteld als een andere werkruimte ({moment}). Uw werkruimte is niet gewijzigd.',
    ],
  },
  pt: {
    subject: '{workspace} foi restaurado como outro espaço de trabalho',
    says: [
      'O operador restaurou uma cópia de segurança do espaço de trabalho {workspace} de {snapshot_at} como outro espaço de trabalho ({moment}). O seu espaço de trabalho não foi alterado.',
    ],
  },
  pl: {
    subject: '{workspace} przywrócono jako inną przestrzeń roboczą',
    says: [
      'Operator przywrócił kopię zapasową przestrzeni roboczej {workspace} z {snapshot_at} jako inną przestrzeń roboczą ({moment}). Państwa przestrzeń robocza nie została zmieniona.',
    ],
  },
  sv: {
    subject: '{workspace} har återskapats som en annan arbetsyta',
    says: [
      'Driften har återskapat en säkerhetskopia av arbetsytan {workspace} av {snapshot_at} som en annan arbetsyta ({moment}). Din arbetsyta har inte ändrats.',
    ],
  },
  da: {
    subject: '{workspace} er genskabt som et andet arbejdsområde',
    says: [
      'Driften har genskabt en sikkerhedskopi af arbejdsområdet {workspace} af {snapshot_at} som et andet arbejdsområde ({moment}). Dit arbejdsområde er ikke ændret.',
    ],
  },
  cs: {
    subject: '{workspace} byl obnoven jako jiný pracovní prostor',
    says: [
      'Provozovatel obnovil zálohu pracovního prostoru {workspace} z {snapshot_at} jako jiný pracovní prostor ({moment}). Váš pracovní prostor se nezměnil.',
    ],
  },
  ja: {
    subject: '{workspace} を別のワークスペースとして復元しました',
    says: [
      '運用担当者が、ワークスペース {workspace} の {snapshot_at} のバックアップを別のワークスペースとして復元しました({moment})。お使いのワークスペースは変更されていません。',
    ],
  },
}
