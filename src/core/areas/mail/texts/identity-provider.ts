/** Mails about a provider that the installation offers: end announced, offer ended, withdrawal cancelled. */
import type { InEveryLanguage } from './language.ts'

export const withdrawn: InEveryLanguage = {
  en: {
    subject: 'Signing in with {provider} ends: {workspace}',
    says: [
      'The operator of this service withdraws {provider}. Until {moment} the people of {workspace} can sign in with it as before. After that they need another way to sign in.',
    ],
  },
  de: {
    subject: 'Anmeldung mit {provider} endet: {workspace}',
    says: [
      'Der Betreiber dieses Dienstes zieht {provider} zurück. Bis {moment} melden sich die Personen von {workspace} damit an wie bisher; danach brauchen sie einen anderen Weg.',
    ],
  },
  fr: {
    subject: 'La connexion avec {provider} prend fin : {workspace}',
    says: [
      'L’exploitant de ce service retire {provider}. Les personnes de {workspace} s’y connectent comme avant jusqu’à la fin, puis auront besoin d’un autre moyen. Fin : {moment}.',
    ],
  },
  es: {
    subject: 'El acceso con {provider} termina: {workspace}',
    says: [
      'El operador de este servicio retira {provider}. Hasta entonces las personas de {workspace} acceden como siempre; después necesitarán otra forma de entrar. Fin: {moment}.',
    ],
  },
  it: {
    subject: 'L’accesso con {provider} termina: {workspace}',
    says: [
      'Il gestore di questo servizio ritira {provider}. Fino ad allora le persone di {workspace} accedono come prima; poi servirà un altro modo. Fine: {moment}.',
    ],
  },
  nl: {
    subject: 'Aanmelden met {provider} eindigt: {workspace}',
    says: [
      'De beheerder van deze dienst trekt {provider} in. Tot {moment} melden de mensen van {workspace} zich daarmee aan zoals voorheen; daarna hebben zij een andere manier nodig.',
    ],
  },
  pt: {
    subject: 'O acesso com {provider} termina: {workspace}',
    says: [
      'O operador deste serviço retira {provider}. Até lá as pessoas de {workspace} entram como antes; depois precisarão de outro meio. Fim: {moment}.',
    ],
  },
  pl: {
    subject: 'Logowanie przez {provider} kończy się: {workspace}',
    says: [
      'Operator tej usługi wycofuje {provider}. Do tego czasu osoby z {workspace} logują się jak dotąd; później będą potrzebować innego sposobu. Koniec: {moment}.',
    ],
  },
  sv: {
    subject: 'Inloggning med {provider} upphör: {workspace}',
    says: [
      'Den som driver tjänsten drar tillbaka {provider}. Fram till {moment} loggar personerna i {workspace} in som förut; därefter behöver de ett annat sätt.',
    ],
  },
  da: {
    subject: 'Login med {provider} ophører: {workspace}',
    says: [
      'Den, der driver tjenesten, trækker {provider} tilbage. Indtil {moment} logger personerne i {workspace} ind som hidtil; derefter skal de bruge en anden måde.',
    ],
  },
  cs: {
    subject: 'Přihlašování přes {provider} končí: {workspace}',
    says: [
      'Provozovatel této služby ruší {provider}. Do té doby se lidé z {workspace} přihlašují jako dosud; potom budou potřebovat jiný způsob. Konec: {moment}.',
    ],
  },
  ja: {
    subject: '{provider} でのサインインは終了します: {workspace}',
    says: [
      'このサービスの運営者は {provider} の提供を終了します。{moment} までは {workspace} の方々はこれまでどおりサインインできます。その後は別の方法が必要です。',
    ],
  },
}

export const ended: InEveryLanguage = {
  en: {
    subject: 'Signing in with {provider} has ended: {workspace}',
    says: [
      'Since {moment} nobody can sign in to {workspace} with {provider}. If there is no other way to sign in, accounts with a password can sign in with it.',
    ],
  },
  de: {
    subject: 'Anmeldung mit {provider} ist beendet: {workspace}',
    says: [
      'Seit {moment} meldet sich niemand mehr mit {provider} bei {workspace} an. Wo kein anderer Weg bleibt, melden sich Konten mit Passwort damit an.',
    ],
  },
  fr: {
    subject: 'La connexion avec {provider} a pris fin : {workspace}',
    says: [
      'Plus personne ne se connecte à {workspace} avec {provider}. Sans autre moyen, les comptes qui ont un mot de passe s’en servent. Depuis : {moment}.',
    ],
  },
  es: {
    subject: 'El acceso con {provider} ha terminado: {workspace}',
    says: [
      'Ya nadie accede a {workspace} con {provider}. Donde no queda otra forma, las cuentas con contraseña acceden con ella. Desde: {moment}.',
    ],
  },
  it: {
    subject: 'L’accesso con {provider} è terminato: {workspace}',
    says: [
      'Nessuno accede più a {workspace} con {provider}. Dove non resta altro modo, gli account con password accedono con quella. Dal: {moment}.',
    ],
  },
  nl: {
    subject: 'Aanmelden met {provider} is geëindigd: {workspace}',
    says: [
      'Sinds {moment} meldt niemand zich meer met {provider} aan bij {workspace}. Waar geen andere manier is, melden accounts met een wachtwoord zich daarmee aan.',
    ],
  },
  pt: {
    subject: 'O acesso com {provider} terminou: {workspace}',
    says: [
      'Ninguém mais entra em {workspace} com {provider}. Onde não resta outro meio, as contas com senha entram com ela. Desde: {moment}.',
    ],
  },
  pl: {
    subject: 'Logowanie przez {provider} zakończyło się: {workspace}',
    says: [
      'Nikt już nie loguje się do {workspace} przez {provider}. Gdzie nie ma innego sposobu, konta z hasłem logują się hasłem. Od: {moment}.',
    ],
  },
  sv: {
    subject: 'Inloggning med {provider} har upphört: {workspace}',
    says: [
      'Sedan {moment} loggar ingen in i {workspace} med {provider}. Där inget annat sätt finns loggar konton med lösenord in med det.',
    ],
  },
  da: {
    subject: 'Login med {provider} er ophørt: {workspace}',
    says: [
      'Siden {moment} logger ingen ind i {workspace} med {provider}. Hvor der ikke er andre måder, logger konti med adgangskode ind med den.',
    ],
  },
  cs: {
    subject: 'Přihlašování přes {provider} skončilo: {workspace}',
    says: [
      'Do {workspace} se už nikdo nepřihlašuje přes {provider}. Kde nezbývá jiný způsob, přihlašují se účty s heslem heslem. Od: {moment}.',
    ],
  },
  ja: {
    subject: '{provider} でのサインインは終了しました: {workspace}',
    says: [
      '{moment} から、{provider} で {workspace} にサインインすることはできません。ほかの方法がない場合、パスワードを持つアカウントはパスワードでサインインします。',
    ],
  },
}

export const restored: InEveryLanguage = {
  en: {
    subject: 'Signing in with {provider} continues: {workspace}',
    says: [
      'The withdrawal of {provider} was cancelled on {moment}. The people of {workspace} can sign in with it as before.',
    ],
  },
  de: {
    subject: 'Anmeldung mit {provider} geht weiter: {workspace}',
    says: [
      'Der Rückzug von {provider} wurde zurückgenommen ({moment}). Die Personen von {workspace} melden sich damit an wie zuvor.',
    ],
  },
  fr: {
    subject: 'La connexion avec {provider} continue : {workspace}',
    says: [
      'Le retrait de {provider} a été annulé ({moment}). Les personnes de {workspace} s’y connectent comme avant.',
    ],
  },
  es: {
    subject: 'El acceso con {provider} continúa: {workspace}',
    says: ['La retirada de {provider} se ha anulado ({moment}). Las personas de {workspace} acceden como antes.'],
  },
  it: {
    subject: 'L’accesso con {provider} continua: {workspace}',
    says: ['Il ritiro di {provider} è stato annullato ({moment}). Le persone di {workspace} accedono come prima.'],
  },
  nl: {
    subject: 'Aanmelden met {provider} gaat door: {workspace}',
    says: [
      'De intrekking van {provider} is teruggenomen ({moment}). De mensen van {workspace} melden zich daarmee aan zoals voorheen.',
    ],
  },
  pt: {
    subject: 'O acesso com {provider} continua: {workspace}',
    says: ['A retirada de {provider} foi anulada ({moment}). As pessoas de {workspace} entram como antes.'],
  },
  pl: {
    subject: 'Logowanie przez {provider} trwa dalej: {workspace}',
    says: ['Wycofanie {provider} zostało odwołane ({moment}). Osoby z {workspace} logują się jak dotąd.'],
  },
  sv: {
    subject: 'Inloggning med {provider} fortsätter: {workspace}',
    says: ['Tillbakadragandet av {provider} har återtagits ({moment}). Personerna i {workspace} loggar in som förut.'],
  },
  da: {
    subject: 'Login med {provider} fortsætter: {workspace}',
    says: ['Tilbagetrækningen af {provider} er taget tilbage ({moment}). Personerne i {workspace} logger ind som før.'],
  },
  cs: {
    subject: 'Přihlašování přes {provider} pokračuje: {workspace}',
    says: ['Zrušení {provider} bylo vzato zpět ({moment}). Lidé z {workspace} se přihlašují jako dosud.'],
  },
  ja: {
    subject: '{provider} でのサインインは継続します: {workspace}',
    says: ['{provider} の提供終了は取り消されました({moment})。{workspace} の方々はこれまでどおりサインインできます。'],
  },
}
