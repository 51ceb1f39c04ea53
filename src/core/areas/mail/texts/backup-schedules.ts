/** Mails about schedules of backups that fail. Spec: Keeping, 3. */
import type { InEveryLanguage } from './language.ts'

/** To the people of the workspace. */
export const failing: InEveryLanguage = {
  en: {
    subject: 'Backups of {workspace} fail',
    says: [
      'A schedule of backups of the workspace {workspace} has failed {failures} times in a row, the last time on {moment}. See why: its backups are listed with what failed. The newest good backup stays.',
    ],
  },
  de: {
    subject: 'Sicherungen von {workspace} schlagen fehl',
    says: [
      'Ein Zeitplan für Sicherungen des Arbeitsbereichs {workspace} ist {failures}-mal in Folge fehlgeschlagen, zuletzt {moment}. Sehen Sie nach, warum: Die Liste der Sicherungen nennt den Fehler. Die neueste gute Sicherung bleibt.',
    ],
  },
  fr: {
    subject: 'Les sauvegardes de {workspace} échouent',
    says: [
      'Une planification de sauvegardes de l’espace de travail {workspace} a échoué {failures} fois de suite, la dernière fois le {moment}. Voyez pourquoi : la liste des sauvegardes indique l’erreur. La dernière bonne sauvegarde reste.',
    ],
  },
  es: {
    subject: 'Las copias de seguridad de {workspace} fallan',
    says: [
      'Una programación de copias de seguridad del espacio de trabajo {workspace} ha fallado {failures} veces seguidas, la última el {moment}. Vea por qué: la lista de copias indica el error. La última copia buena se conserva.',
    ],
  },
  it: {
    subject: 'I backup di {workspace} non riescono',
    says: [
      'Una pianificazione dei backup dello spazio di lavoro {workspace} non è riuscita {failures} volte di seguito, l’ultima il {moment}. Verificate perché: l’elenco dei backup indica l’errore. L’ultimo backup buono resta.',
    ],
  },
  nl: {
    subject: 'Back-ups van {workspace} mislukken',
    says: [
      'Een schema voor back-ups van de werkruimte {workspace} is {failures} keer achter elkaar mislukt, voor het laatst op {moment}. Kijk waarom: de lijst van back-ups noemt de fout. De nieuwste goede back-up blijft.',
    ],
  },
  pt: {
    subject: 'As cópias de segurança de {workspace} falham',
    says: [
      'Um agendamento de cópias de segurança do espaço de trabalho {workspace} falhou {failures} vezes seguidas, a última em {moment}. Veja porquê: a lista de cópias indica o erro. A última cópia boa mantém-se.',
    ],
  },
  pl: {
    subject: 'Kopie zapasowe {workspace} nie powodzą się',
    says: [
      'Harmonogram kopii zapasowych przestrzeni roboczej {workspace} nie powiódł się {failures} razy z rzędu, ostatnio {moment}. Przyczynę podaje lista kopii. Najnowsza dobra kopia pozostaje.',
    ],
  },
  sv: {
    subject: 'Säkerhetskopior av {workspace} misslyckas',
    says: [
      'Ett schema för säkerhetskopior av arbetsytan {workspace} har misslyckats {failures} gånger i rad, senast {moment}. Se varför: listan över säkerhetskopior visar felet. Den senaste bra säkerhetskopian finns kvar.',
    ],
  },
  da: {
    subject: 'Sikkerhedskopier af {workspace} mislykkes',
    says: [
      'En plan for sikkerhedskopier af arbejdsområdet {workspace} er mislykkedes {failures} gange i træk, senest {moment}. Se hvorfor: listen over sikkerhedskopier viser fejlen. Den nyeste gode sikkerhedskopi bliver.',
    ],
  },
  cs: {
    subject: 'Zálohy {workspace} selhávají',
    says: [
      'Plán záloh pracovního prostoru {workspace} selhal {failures}krát za sebou, naposledy {moment}. Příčinu uvádí seznam záloh. Nejnovější dobrá záloha zůstává.',
    ],
  },
  ja: {
    subject: '{workspace} のバックアップが失敗しています',
    says: [
      'ワークスペース {workspace} のバックアップのスケジュールが {failures} 回続けて失敗しました(最後は {moment})。原因はバックアップの一覧で確認できます。最新の正常なバックアップは残ります。',
    ],
  },
}

/** To operators, about a schedule of the installation. */
export const failingOf: InEveryLanguage = {
  en: {
    subject: 'Scheduled backups fail',
    says: [
      'A schedule of backups of the installation has failed {failures} times in a row, the last time on {moment}. See why: svc backups list. The newest good backup of each workspace stays.',
    ],
  },
  de: {
    subject: 'Geplante Sicherungen schlagen fehl',
    says: [
      'Ein Zeitplan für Sicherungen der Installation ist {failures}-mal in Folge fehlgeschlagen, zuletzt {moment}. Sehen Sie nach, warum: svc backups list. Die neueste gute Sicherung jedes Arbeitsbereichs bleibt.',
    ],
  },
  fr: {
    subject: 'Les sauvegardes planifiées échouent',
    says: [
      'Une planification de sauvegardes de l’installation a échoué {failures} fois de suite, la dernière fois le {moment}. Voyez pourquoi : svc backups list. La dernière bonne sauvegarde de chaque espace de travail reste.',
    ],
  },
  es: {
    subject: 'Las copias programadas fallan',
    says: [
      'Una programación de copias de seguridad de la instalación ha fallado {failures} veces seguidas, la última el {moment}. Vea por qué: svc backups list. La última copia buena de cada espacio de trabajo se conserva.',
    ],
  },
  it: {
    subject: 'I backup pianificati non riescono',
    says: [
      'Una pianificazione dei backup dell’installazione non è riuscita {failures} volte di seguito, l’ultima il {moment}. Verificate perché: svc backups list. L’ultimo backup buono di ogni spazio di lavoro resta.',
    ],
  },
  nl: {
    subject: 'Geplande back-ups mislukken',
    says: [
      'Een schema voor back-ups van de installatie is {failures} keer achter elkaar mislukt, voor het laatst op {moment}. Kijk waarom: svc backups list. De nieuwste goede back-up van elke werkruimte blijft.',
    ],
  },
  pt: {
    subject: 'As cópias agendadas falham',
    says: [
      'Um agendamento de cópias de segurança da instalação falhou {failures} vezes seguidas, a última em {moment}. Veja porquê: svc backups list. A última cópia boa de cada espaço de trabalho mantém-se.',
    ],
  },
  pl: {
    subject: 'Zaplanowane kopie zapasowe nie powodzą się',
    says: [
      'Harmonogram kopii zapasowych instalacji nie powiódł się {failures} razy z rzędu, ostatnio {moment}. Przyczynę podaje svc backups list. Najnowsza dobra kopia każdej przestrzeni roboczej pozostaje.',
    ],
  },
  sv: {
    subject: 'Schemalagda säkerhetskopior misslyckas',
    says: [
      'Ett schema för säkerhetskopior av installationen har misslyckats {failures} gånger i rad, senast {moment}. Se varför: svc backups list. Den senaste bra säkerhetskopian av varje arbetsyta finns kvar.',
    ],
  },
  da: {
    subject: 'Planlagte sikkerhedskopier mislykkes',
    says: [
      'En plan for sikkerhedskopier af installationen er mislykkedes {failures} gange i træk, senest {moment}. Se hvorfor: svc backups list. Den nyeste gode sikkerhedskopi af hvert arbejdsområde bliver.',
    ],
  },
  cs: {
    subject: 'Plánované zálohy selhávají',
    says: [
      'Plán záloh instalace selhal {failures}krát za sebou, naposledy {moment}. Příčinu uvádí svc backups list. Nejnovější dobrá záloha každého pracovního prostoru zůstává.',
    ],
  },
  ja: {
    subject: '予定されたバックアップが失敗しています',
    says: [
      'このインストールのバックアップのスケジュールが {failures} 回続けて失敗しました(最後は {moment})。原因は svc backups list で確認できます。各ワークスペースの最新の正常なバックアップは残ります。',
    ],
  },
}
