/** What every mail is framed in: labels, what to do about a surprise, and why the reader gets it. */
import type { InEveryLanguage } from './language.ts'

export interface Frame {
  readonly requester: string
  readonly reason: string
  /** What an administrator does about something that nobody of his asked for. */
  readonly unexpected: string
  /** What the account's own person does about something he did not do. */
  readonly notYou: string
  /** Why the reader gets it: for administrators, and for the account's own person. */
  readonly administrators: string
  readonly account: string
}

export const frames: InEveryLanguage<Frame> = {
  en: {
    requester: 'Requested by',
    reason: 'Reason',
    unexpected: 'If nobody of yours asked for this, contact the operator of this service.',
    notYou: 'If this was not you, change your password and contact an administrator of {workspace}.',
    administrators: 'You receive this mail because you administer {workspace}.',
    account: 'You receive this mail because you have an account in {workspace}.',
  },
  de: {
    requester: 'Angefordert von',
    reason: 'Grund',
    unexpected: 'Falls das bei Ihnen niemand angefordert hat, wenden Sie sich an den Betreiber dieses Dienstes.',
    notYou: 'Falls Sie das nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung von {workspace}.',
    administrators: 'Sie erhalten diese Nachricht, weil Sie {workspace} verwalten.',
    account: 'Sie erhalten diese Nachricht, weil Sie ein Konto in {workspace} haben.',
  },
  fr: {
    requester: 'Demandé par',
    reason: 'Motif',
    unexpected: 'Si personne chez vous ne l’a demandé, contactez l’exploitant de ce service.',
    notYou: 'Si ce n’était pas vous, changez votre mot de passe et contactez une personne qui administre {workspace}.',
    administrators: 'Vous recevez ce message parce que vous administrez {workspace}.',
    account: 'Vous recevez ce message parce que vous avez un compte dans {workspace}.',
  },
  es: {
    requester: 'Solicitado por',
    reason: 'Motivo',
    unexpected: 'Si nadie de su organización lo ha solicitado, póngase en contacto con el operador de este servicio.',
    notYou: 'Si no ha sido usted, cambie su contraseña y póngase en contacto con quien administra {workspace}.',
    administrators: 'Recibe este mensaje porque administra {workspace}.',
    account: 'Recibe este mensaje porque tiene una cuenta en {workspace}.',
  },
  it: {
    requester: 'Richiesto da',
    reason: 'Motivo',
    unexpected: 'Se nessuno dei vostri lo ha richiesto, contattate il gestore di questo servizio.',
    notYou: 'Se non è stata opera vostra, cambiate la password e contattate chi amministra {workspace}.',
    administrators: 'Ricevete questo messaggio perché amministrate {workspace}.',
    account: 'Ricevete questo messaggio perché avete un account in {workspace}.',
  },
  nl: {
    requester: 'Aangevraagd door',
    reason: 'Reden',
    unexpected: 'Heeft niemand van u hierom gevraagd, neem dan contact op met de beheerder van deze dienst.',
    notYou: 'Was u dit niet, wijzig dan uw wachtwoord en neem contact op met een beheerder van {workspace}.',
    administrators: 'U ontvangt dit bericht omdat u {workspace} beheert.',
    account: 'U ontvangt dit bericht omdat u een account in {workspace} hebt.',
  },
  pt: {
    requester: 'Solicitado por',
    reason: 'Motivo',
    unexpected: 'Se ninguém da sua organização solicitou isto, contate o operador deste serviço.',
    notYou: 'Se não foi você, altere sua senha e contate quem administra {workspace}.',
    administrators: 'Você recebe esta mensagem porque administra {workspace}.',
    account: 'Você recebe esta mensagem porque tem uma conta em {workspace}.',
  },
  pl: {
    requester: 'Na wniosek',
    reason: 'Powód',
    unexpected: 'Jeśli nikt u Państwa o to nie prosił, prosimy o kontakt z operatorem tej usługi.',
    notYou: 'Jeśli to nie Państwo, prosimy zmienić hasło i skontaktować się z administratorem {workspace}.',
    administrators: 'Otrzymują Państwo tę wiadomość, ponieważ administrują Państwo {workspace}.',
    account: 'Otrzymują Państwo tę wiadomość, ponieważ mają Państwo konto w {workspace}.',
  },
  sv: {
    requester: 'Begärt av',
    reason: 'Skäl',
    unexpected: 'Om ingen hos er har bett om detta, kontakta den som driver tjänsten.',
    notYou: 'Om det inte var du, byt lösenord och kontakta en administratör för {workspace}.',
    administrators: 'Du får detta meddelande eftersom du administrerar {workspace}.',
    account: 'Du får detta meddelande eftersom du har ett konto i {workspace}.',
  },
  da: {
    requester: 'Anmodet af',
    reason: 'Begrundelse',
    unexpected: 'Hvis ingen hos jer har bedt om dette, så kontakt den, der driver tjenesten.',
    notYou: 'Hvis det ikke var dig, så skift din adgangskode og kontakt en administrator af {workspace}.',
    administrators: 'Du modtager denne mail, fordi du administrerer {workspace}.',
    account: 'Du modtager denne mail, fordi du har en konto i {workspace}.',
  },
  cs: {
    requester: 'Na žádost',
    reason: 'Důvod',
    unexpected: 'Pokud o to nikdo z vás nežádal, obraťte se na provozovatele této služby.',
    notYou: 'Pokud jste to nebyli vy, změňte si heslo a obraťte se na správce {workspace}.',
    administrators: 'Tuto zprávu dostáváte, protože spravujete {workspace}.',
    account: 'Tuto zprávu dostáváte, protože máte účet v {workspace}.',
  },
  ja: {
    requester: '依頼者',
    reason: '理由',
    unexpected: '心当たりがない場合は、このサービスの運営者にお問い合わせください。',
    notYou: '心当たりがない場合は、パスワードを変更し、{workspace} の管理者にご連絡ください。',
    administrators: 'このメールは {workspace} の管理者の方にお送りしています。',
    account: 'このメールは {workspace} にアカウントをお持ちの方にお送りしています。',
  },
}
