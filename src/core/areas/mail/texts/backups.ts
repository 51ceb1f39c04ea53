/** Mails about backups. Spec: Keeping, 3. */
import type { InEveryLanguage } from './language.ts'

/** To the people of the workspace. */
export const damaged: InEveryLanguage = {
  en: {
    subject: 'A backup of {workspace} failed its check',
    says: [
      'A backup of the workspace {workspace} was read again on {moment}, and the check failed ({failure}). Make another backup, and see which of the earlier ones are good.',
    ],
  },
  de: {
    subject: 'Eine Sicherung von {workspace} hat die Prüfung nicht bestanden',
    says: [
      'Eine Sicherung des Arbeitsbereichs {workspace} wurde erneut gelesen ({moment}), und die Prüfung schlug fehl ({failure}). Legen Sie eine neue Sicherung an und prüfen Sie, welche der früheren gut sind.',
    ],
  },
  fr: {
    subject: 'Une sauvegarde de {workspace} n’a pas passé la vérification',
    says: [
      'Une sauvegarde de l’espace de travail {workspace} a été relue ({moment}) et la vérification a échoué ({failure}). Faites une autre sauvegarde et voyez lesquelles des précédentes sont bonnes.',
    ],
  },
  es: {
    subject: 'Una copia de seguridad de {workspace} no superó la comprobación',
    says: [
      'Se volvió a leer una copia de seguridad del espacio de trabajo {workspace} ({moment}) y la comprobación falló ({failure}). Haga otra copia y compruebe cuáles de las anteriores son buenas.',
    ],
  },
  it: {
    subject: 'Un backup di {workspace} non ha superato il controllo',
    says: [
      'Un backup dello spazio di lavoro {workspace} è stato riletto ({moment}) e il controllo non è riuscito ({failure}). Fate un altro backup e verificate quali dei precedenti sono buoni.',
    ],
  },
  nl: {
    subject: 'Een back-up van {workspace} heeft de controle niet doorstaan',
    says: [
      'Een back-up van de werkruimte {workspace} is opnieuw gelezen ({moment}) en de controle is mislukt ({failure}). Maak een nieuwe back-up en kijk welke van de vorige goed zijn.',
    ],
  },
  pt: {
    subject: 'Uma cópia de segurança de {workspace} não passou na verificação',
    says: [
      'Uma cópia de segurança do espaço de trabalho {workspace} foi lida de novo ({moment}) e a verificação falhou ({failure}). Faça outra cópia e veja quais das anteriores estão boas.',
    ],
  },
  pl: {
    subject: 'Kopia zapasowa {workspace} nie przeszła sprawdzenia',
    says: [
      'Kopia zapasowa przestrzeni roboczej {workspace} została ponownie odczytana ({moment}), a sprawdzenie się nie powiodło ({failure}). Należy wykonać nową kopię i sprawdzić, które z wcześniejszych są dobre.',
    ],
  },
  sv: {
    subject: 'En säkerhetskopia av {workspace} klarade inte kontrollen',
    says: [
      'En säkerhetskopia av arbetsytan {workspace} lästes på nytt ({moment}) och kontrollen misslyckades ({failure}). Gör en ny säkerhetskopia och se vilka av de tidigare som är bra.',
    ],
  },
  da: {
    subject: 'En sikkerhedskopi af {workspace} bestod ikke kontrollen',
    says: [
      'En sikkerhedskopi af arbejdsområdet {workspace} blev læst igen ({moment}), og kontrollen mislykkedes ({failure}). Lav en ny sikkerhedskopi, og se hvilke af de tidligere der er gode.',
    ],
  },
  cs: {
    subject: 'Záloha {workspace} neprošla kontrolou',
    says: [
      'Záloha pracovního prostoru {workspace} byla znovu přečtena ({moment}) a kontrola selhala ({failure}). Vytvořte novou zálohu a zjistěte, které z dřívějších jsou v pořádku.',
    ],
  },
  ja: {
    subject: '{workspace} のバックアップが検査に合格しませんでした',
    says: [
      'ワークスペース {workspace} のバックアップを読み直したところ({moment})、検査に失敗しました({failure})。新しいバックアップを作成し、以前のどれが正常かを確認してください。',
    ],
  },
}

/** To operators, about a workspace of theirs. */
export const damagedOf: InEveryLanguage = {
  en: {
    subject: 'A backup of {slug} failed its check ({failure})',
    says: [
      'A backup of the workspace {slug} was read again on {moment}, and the check failed ({failure}). Make another backup, and see which of the earlier ones are good.',
    ],
  },
  de: {
    subject: 'Eine Sicherung von {slug} hat die Prüfung nicht bestanden ({failure})',
    says: [
      'Eine Sicherung des Arbeitsbereichs {slug} wurde erneut gelesen ({moment}), und die Prüfung schlug fehl ({failure}). Legen Sie eine neue Sicherung an und prüfen Sie, welche der früheren gut sind.',
    ],
  },
  fr: {
    subject: 'Une sauvegarde de {slug} n’a pas passé la vérification ({failure})',
    says: [
      'Une sauvegarde de l’espace de travail {slug} a été relue ({moment}) et la vérification a échoué ({failure}). Faites une autre sauvegarde et voyez lesquelles des précédentes sont bonnes.',
    ],
  },
  es: {
    subject: 'Una copia de seguridad de {slug} no superó la comprobación ({failure})',
    says: [
      'Se volvió a leer una copia de seguridad del espacio de trabajo {slug} ({moment}) y la comprobación falló ({failure}). Haga otra copia y compruebe cuáles de las anteriores son buenas.',
    ],
  },
  it: {
    subject: 'Un backup di {slug} non ha superato il controllo ({failure})',
    says: [
      'Un backup dello spazio di lavoro {slug} è stato riletto ({moment}) e il controllo non è riuscito ({failure}). Fate un altro backup e verificate quali dei precedenti sono buoni.',
    ],
  },
  nl: {
    subject: 'Een back-up van {slug} heeft de controle niet doorstaan ({failure})',
    says: [
      'Een back-up van de werkruimte {slug} is opnieuw gelezen ({moment}) en de controle is mislukt ({failure}). Maak een nieuwe back-up en kijk welke van de vorige goed zijn.',
    ],
  },
  pt: {
    subject: 'Uma cópia de segurança de {slug} não passou na verificação ({failure})',
    says: [
      'Uma cópia de segurança do espaço de trabalho {slug} foi lida de novo ({moment}) e a verificação falhou ({failure}). Faça outra cópia e veja quais das anteriores estão boas.',
    ],
  },
  pl: {
    subject: 'Kopia zapasowa {slug} nie przeszła sprawdzenia ({failure})',
    says: [
      'Kopia zapasowa przestrzeni roboczej {slug} została ponownie odczytana ({moment}), a sprawdzenie się nie powiodło ({failure}). Należy wykonać nową kopię i sprawdzić, które z wcześniejszych są dobre.',
    ],
  },
  sv: {
    subject: 'En säkerhetskopia av {slug} klarade inte kontrollen ({failure})',
    says: [
      'En säkerhetskopia av arbetsytan {slug} lästes på nytt ({moment}) och kontrollen misslyckades ({failure}). Gör en ny säkerhetskopia och se vilka av de tidigare som är bra.',
    ],
  },
  da: {
    subject: 'En sikkerhedskopi af {slug} bestod ikke kontrollen ({failure})',
    says: [
      'En sikkerhedskopi af arbejdsområdet {slug} blev læst igen ({moment}), og kontrollen mislykkedes ({failure}). Lav en ny sikkerhedskopi, og se hvilke af de tidligere der er gode.',
    ],
  },
  cs: {
    subject: 'Záloha {slug} neprošla kontrolou ({failure})',
    says: [
      'Záloha pracovního prostoru {slug} byla znovu přečtena ({moment}) a kontrola selhala ({failure}). Vytvořte novou zálohu a zjistěte, které z dřívějších jsou v pořádku.',
    ],
  },
  ja: {
    subject: '{slug} のバックアップが検査に合格しませんでした ({failure})',
    says: [
      'ワークスペース {slug} のバックアップを読み直したところ({moment})、検査に失敗しました({failure})。新しいバックアップを作成し、以前のどれが正常かを確認してください。',
    ],
  },
}
