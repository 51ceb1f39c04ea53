/**
 * What the mails say, in the languages that workspaces start in (admin/tenants/starter.ts).
 * English where the language is none of these. `{workspace}` and `{moment}` are filled in.
 */
export const noticeNames = ['password_opened', 'password_closed', 'password_ended'] as const
export type NoticeName = (typeof noticeNames)[number]

interface Text {
  readonly subject: string
  /** Paragraphs. */
  readonly says: readonly string[]
}

export type Texts = Readonly<Record<NoticeName, Text>> & {
  readonly requester: string
  readonly reason: string
  /** What to do about an opening that nobody here asked for. */
  readonly unexpected: string
  /** Why the reader gets it. */
  readonly footer: string
}

/** In the order: opened, closed, ended (each a subject and its paragraphs), requester, reason, unexpected, footer. */
const texts = (
  opened: readonly [string, ...string[]],
  closed: readonly [string, ...string[]],
  ended: readonly [string, ...string[]],
  requester: string,
  reason: string,
  unexpected: string,
  footer: string,
): Texts => ({
  password_opened: textOf(opened),
  password_closed: textOf(closed),
  password_ended: textOf(ended),
  requester,
  reason,
  unexpected,
  footer,
})

const textOf = ([subject, ...says]: readonly [string, ...string[]]): Text => ({ subject, says })

const byLanguage: Readonly<Record<string, Texts>> = {
  en: texts(
    [
      'Password sign-in is open: {workspace}',
      'Until {moment}, every account of {workspace} that has a password may sign in with it, even where password sign-in is otherwise switched off.',
    ],
    [
      'Password sign-in is closed: {workspace}',
      'The password sign-in that had been opened for {workspace} was closed on {moment}. The usual sign-in rules apply again.',
    ],
    [
      'Password sign-in has ended: {workspace}',
      'The password sign-in that had been opened for {workspace} ended on {moment}. The usual sign-in rules apply again.',
    ],
    'Requested by',
    'Reason',
    'If nobody of yours asked for this, contact the operator of this service.',
    'You receive this mail because you administer {workspace}.',
  ),
  de: texts(
    [
      'Anmeldung mit Passwort ist offen: {workspace}',
      'Bis {moment} darf sich jedes Konto von {workspace}, das ein Passwort hat, damit anmelden, auch wenn die Anmeldung mit Passwort sonst abgeschaltet ist.',
    ],
    [
      'Anmeldung mit Passwort ist geschlossen: {workspace}',
      'Die für {workspace} geöffnete Anmeldung mit Passwort wurde geschlossen ({moment}). Es gelten wieder die üblichen Regeln.',
    ],
    [
      'Anmeldung mit Passwort ist beendet: {workspace}',
      'Die für {workspace} geöffnete Anmeldung mit Passwort ist abgelaufen ({moment}). Es gelten wieder die üblichen Regeln.',
    ],
    'Angefordert von',
    'Grund',
    'Falls das bei Ihnen niemand angefordert hat, wenden Sie sich an den Betreiber dieses Dienstes.',
    'Sie erhalten diese Nachricht, weil Sie {workspace} verwalten.',
  ),
  fr: texts(
    [
      'Connexion par mot de passe ouverte : {workspace}',
      'Chaque compte de {workspace} qui possède un mot de passe peut s’en servir pour se connecter, même si ce mode de connexion est normalement désactivé. Fin : {moment}.',
    ],
    [
      'Connexion par mot de passe fermée : {workspace}',
      'La connexion par mot de passe ouverte pour {workspace} a été fermée ({moment}). Les règles habituelles s’appliquent de nouveau.',
    ],
    [
      'Connexion par mot de passe terminée : {workspace}',
      'La connexion par mot de passe ouverte pour {workspace} a pris fin ({moment}). Les règles habituelles s’appliquent de nouveau.',
    ],
    'Demandé par',
    'Motif',
    'Si personne chez vous ne l’a demandé, contactez l’exploitant de ce service.',
    'Vous recevez ce message parce que vous administrez {workspace}.',
  ),
  es: texts(
    [
      'Inicio de sesión con contraseña abierto: {workspace}',
      'Todas las cuentas de {workspace} que tienen contraseña pueden iniciar sesión con ella, aunque normalmente esté desactivado. Fin: {moment}.',
    ],
    [
      'Inicio de sesión con contraseña cerrado: {workspace}',
      'El inicio de sesión con contraseña abierto para {workspace} se ha cerrado ({moment}). Vuelven a regir las reglas habituales.',
    ],
    [
      'Inicio de sesión con contraseña finalizado: {workspace}',
      'El inicio de sesión con contraseña abierto para {workspace} ha terminado ({moment}). Vuelven a regir las reglas habituales.',
    ],
    'Solicitado por',
    'Motivo',
    'Si nadie de su organización lo ha solicitado, póngase en contacto con el operador de este servicio.',
    'Recibe este mensaje porque administra {workspace}.',
  ),
  it: texts(
    [
      'Accesso con password aperto: {workspace}',
      'Ogni account di {workspace} che ha una password può usarla per accedere, anche se di norma questo accesso è disattivato. Fine: {moment}.',
    ],
    [
      'Accesso con password chiuso: {workspace}',
      'L’accesso con password aperto per {workspace} è stato chiuso ({moment}). Valgono di nuovo le regole consuete.',
    ],
    [
      'Accesso con password terminato: {workspace}',
      'L’accesso con password aperto per {workspace} è terminato ({moment}). Valgono di nuovo le regole consuete.',
    ],
    'Richiesto da',
    'Motivo',
    'Se nessuno dei vostri lo ha richiesto, contattate il gestore di questo servizio.',
    'Ricevete questo messaggio perché amministrate {workspace}.',
  ),
  nl: texts(
    [
      'Aanmelden met wachtwoord is open: {workspace}',
      'Tot {moment} mag elk account van {workspace} dat een wachtwoord heeft zich daarmee aanmelden, ook als dat anders is uitgeschakeld.',
    ],
    [
      'Aanmelden met wachtwoord is gesloten: {workspace}',
      'Het voor {workspace} geopende aanmelden met wachtwoord is gesloten ({moment}). De gewone regels gelden weer.',
    ],
    [
      'Aanmelden met wachtwoord is afgelopen: {workspace}',
      'Het voor {workspace} geopende aanmelden met wachtwoord is afgelopen ({moment}). De gewone regels gelden weer.',
    ],
    'Aangevraagd door',
    'Reden',
    'Heeft niemand van u hierom gevraagd, neem dan contact op met de beheerder van deze dienst.',
    'U ontvangt dit bericht omdat u {workspace} beheert.',
  ),
  pt: texts(
    [
      'Acesso com senha aberto: {workspace}',
      'Todas as contas de {workspace} que têm senha podem usá-la para entrar, mesmo que esse acesso esteja normalmente desativado. Fim: {moment}.',
    ],
    [
      'Acesso com senha fechado: {workspace}',
      'O acesso com senha aberto para {workspace} foi fechado ({moment}). As regras habituais voltam a valer.',
    ],
    [
      'Acesso com senha encerrado: {workspace}',
      'O acesso com senha aberto para {workspace} terminou ({moment}). As regras habituais voltam a valer.',
    ],
    'Solicitado por',
    'Motivo',
    'Se ninguém da sua organização solicitou isto, contate o operador deste serviço.',
    'Você recebe esta mensagem porque administra {workspace}.',
  ),
  pl: texts(
    [
      'Logowanie hasłem jest otwarte: {workspace}',
      'Każde konto w {workspace}, które ma hasło, może się nim logować, nawet jeśli zwykle jest to wyłączone. Koniec: {moment}.',
    ],
    [
      'Logowanie hasłem zostało zamknięte: {workspace}',
      'Logowanie hasłem otwarte dla {workspace} zostało zamknięte ({moment}). Znów obowiązują zwykłe zasady.',
    ],
    [
      'Logowanie hasłem zakończyło się: {workspace}',
      'Logowanie hasłem otwarte dla {workspace} zakończyło się ({moment}). Znów obowiązują zwykłe zasady.',
    ],
    'Na wniosek',
    'Powód',
    'Jeśli nikt u Państwa o to nie prosił, prosimy o kontakt z operatorem tej usługi.',
    'Otrzymują Państwo tę wiadomość, ponieważ administrują Państwo {workspace}.',
  ),
  sv: texts(
    [
      'Inloggning med lösenord är öppen: {workspace}',
      'Varje konto i {workspace} som har ett lösenord får logga in med det, även om det annars är avstängt. Slutar: {moment}.',
    ],
    [
      'Inloggning med lösenord är stängd: {workspace}',
      'Inloggningen med lösenord som öppnats för {workspace} har stängts ({moment}). De vanliga reglerna gäller igen.',
    ],
    [
      'Inloggning med lösenord har upphört: {workspace}',
      'Inloggningen med lösenord som öppnats för {workspace} har upphört ({moment}). De vanliga reglerna gäller igen.',
    ],
    'Begärt av',
    'Skäl',
    'Om ingen hos er har bett om detta, kontakta den som driver tjänsten.',
    'Du får detta meddelande eftersom du administrerar {workspace}.',
  ),
  da: texts(
    [
      'Login med adgangskode er åbent: {workspace}',
      'Alle konti i {workspace}, der har en adgangskode, må logge ind med den, også selv om det ellers er slået fra. Slutter: {moment}.',
    ],
    [
      'Login med adgangskode er lukket: {workspace}',
      'Det login med adgangskode, der var åbnet for {workspace}, er blevet lukket ({moment}). De sædvanlige regler gælder igen.',
    ],
    [
      'Login med adgangskode er ophørt: {workspace}',
      'Det login med adgangskode, der var åbnet for {workspace}, er ophørt ({moment}). De sædvanlige regler gælder igen.',
    ],
    'Anmodet af',
    'Begrundelse',
    'Hvis ingen hos jer har bedt om dette, så kontakt den, der driver tjenesten.',
    'Du modtager denne mail, fordi du administrerer {workspace}.',
  ),
  cs: texts(
    [
      'Přihlašování heslem je otevřeno: {workspace}',
      'Každý účet v {workspace}, který má heslo, se jím může přihlásit, i když je to jinak vypnuto. Konec: {moment}.',
    ],
    [
      'Přihlašování heslem je uzavřeno: {workspace}',
      'Přihlašování heslem otevřené pro {workspace} bylo uzavřeno ({moment}). Opět platí obvyklá pravidla.',
    ],
    [
      'Přihlašování heslem skončilo: {workspace}',
      'Přihlašování heslem otevřené pro {workspace} skončilo ({moment}). Opět platí obvyklá pravidla.',
    ],
    'Na žádost',
    'Důvod',
    'Pokud o to nikdo z vás nežádal, obraťte se na provozovatele této služby.',
    'Tuto zprávu dostáváte, protože spravujete {workspace}.',
  ),
  ja: texts(
    [
      'パスワードでのサインインが可能になりました: {workspace}',
      '{moment} まで、{workspace} のパスワードを持つすべてのアカウントは、通常は無効になっている場合でも、パスワードでサインインできます。',
    ],
    [
      'パスワードでのサインインは締め切られました: {workspace}',
      '{workspace} で許可されていたパスワードでのサインインは締め切られました({moment})。通常の規則が再び適用されます。',
    ],
    [
      'パスワードでのサインインは終了しました: {workspace}',
      '{workspace} で許可されていたパスワードでのサインインは終了しました({moment})。通常の規則が再び適用されます。',
    ],
    '依頼者',
    '理由',
    '心当たりがない場合は、このサービスの運営者にお問い合わせください。',
    'このメールは {workspace} の管理者の方にお送りしています。',
  ),
}

const english = byLanguage['en'] as Texts

/** Every language there is a mail in. */
export const languages: readonly string[] = Object.keys(byLanguage)

/** The texts in the locale's language, e.g. `de` for `de-AT`, and which language they are in. */
export function textsFor(locale: string): { readonly language: string; readonly texts: Texts } {
  const { language } = new Intl.Locale(locale)
  const found = byLanguage[language]
  return found ? { language, texts: found } : { language: 'en', texts: english }
}
