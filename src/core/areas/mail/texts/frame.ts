/** The frame of every mail: labels, what to do if the mail is unexpected, and why the reader gets it. */
import type { InEveryLanguage } from './language.ts'

export interface Frame {
  readonly requester: string
  readonly reason: string
  /** What an administrator does if nobody in the workspace asked for the change. */
  readonly unexpected: string
  /** What the person of the account does if the action was not their own. */
  readonly notYou: string
  /** What an operator does if no operator made the change to the installation. */
  readonly stolen: string
  /** Why the reader gets the mail: for administrators, for the account's person, and for operators. */
  readonly administrators: string
  readonly account: string
  readonly operators: string
}

export const frames: InEveryLanguage<Frame> = {
  en: {
    requester: 'Requested by',
    reason: 'Reason',
    unexpected: 'If nobody in your workspace asked for this, contact the operator of this service.',
    notYou: 'If this was not you, change your password and contact an administrator of {workspace}.',
    stolen:
      'If no operator made this change, a token may be stolen. docs/runbooks/operators.md says what to do, and in which order.',
    administrators: 'You receive this mail because you administer {workspace}.',
    account: 'You receive this mail because you have an account in {workspace}.',
    operators: 'You receive this mail because you are an operator of this service, or were one until this change.',
  },
  de: {
    requester: 'Angefordert von',
    reason: 'Grund',
    unexpected: 'Falls das bei Ihnen niemand angefordert hat, wenden Sie sich an den Betreiber dieses Dienstes.',
    notYou: 'Falls Sie das nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung von {workspace}.',
    stolen:
      'Falls das niemand von Ihnen wollte, ist vielleicht ein Token gestohlen: docs/runbooks/operators.md sagt, was dann zu tun ist, und in welcher Reihenfolge.',
    administrators: 'Sie erhalten diese Nachricht, weil Sie {workspace} verwalten.',
    account: 'Sie erhalten diese Nachricht, weil Sie ein Konto in {workspace} haben.',
    operators:
      'Sie erhalten diese Nachricht, weil Sie diesen Dienst betreiben oder bis zu dieser Änderung betrieben haben.',
  },
  fr: {
    requester: 'Demandé par',
    reason: 'Motif',
    unexpected: 'Si personne chez vous ne l’a demandé, contactez l’exploitant de ce service.',
    notYou: 'Si ce n’était pas vous, changez votre mot de passe et contactez une personne qui administre {workspace}.',
    stolen:
      'Si aucun d’entre vous ne l’a voulu, un jeton a peut-être été volé : docs/runbooks/operators.md dit que faire, et dans quel ordre.',
    administrators: 'Vous recevez ce message parce que vous administrez {workspace}.',
    account: 'Vous recevez ce message parce que vous avez un compte dans {workspace}.',
    operators: 'Vous recevez ce message parce que vous êtes opérateur de ce service, ou l’étiez jusqu’à ce changement.',
  },
  es: {
    requester: 'Solicitado por',
    reason: 'Motivo',
    unexpected: 'Si nadie de su organización lo ha solicitado, póngase en contacto con el operador de este servicio.',
    notYou: 'Si no ha sido usted, cambie su contraseña y póngase en contacto con quien administra {workspace}.',
    stolen:
      'Si nadie de ustedes lo quería, puede que se haya robado un token: docs/runbooks/operators.md dice qué hacer y en qué orden.',
    administrators: 'Recibe este mensaje porque administra {workspace}.',
    account: 'Recibe este mensaje porque tiene una cuenta en {workspace}.',
    operators: 'Recibe este mensaje porque es operador de este servicio, o lo era hasta este cambio.',
  },
  it: {
    requester: 'Richiesto da',
    reason: 'Motivo',
    unexpected: 'Se nessuno dei vostri lo ha richiesto, contattate il gestore di questo servizio.',
    notYou: 'Se non è stata opera vostra, cambiate la password e contattate chi amministra {workspace}.',
    stolen:
      'Se nessuno di voi lo ha voluto, forse è stato rubato un token: docs/runbooks/operators.md dice che cosa fare e in quale ordine.',
    administrators: 'Ricevete questo messaggio perché amministrate {workspace}.',
    account: 'Ricevete questo messaggio perché avete un account in {workspace}.',
    operators:
      'Ricevete questo messaggio perché siete operatori di questo servizio, o lo eravate fino a questa modifica.',
  },
  nl: {
    requester: 'Aangevraagd door',
    reason: 'Reden',
    unexpected: 'Heeft niemand van u hierom gevraagd, neem dan contact op met de beheerder van deze dienst.',
    notYou: 'Was u dit niet, wijzig dan uw wachtwoord en neem contact op met een beheerder van {workspace}.',
    stolen:
      'Heeft niemand van u dit gewild, dan is er misschien een token gestolen: docs/runbooks/operators.md zegt wat er te doen is, en in welke volgorde.',
    administrators: 'U ontvangt dit bericht omdat u {workspace} beheert.',
    account: 'U ontvangt dit bericht omdat u een account in {workspace} hebt.',
    operators: 'U ontvangt dit bericht omdat u deze dienst beheert, of dat tot deze wijziging deed.',
  },
  pt: {
    requester: 'Solicitado por',
    reason: 'Motivo',
    unexpected: 'Se ninguém da sua organização solicitou isto, contate o operador deste serviço.',
    notYou: 'Se não foi você, altere sua senha e contate quem administra {workspace}.',
    stolen:
      'Se ninguém de vocês quis isto, um token pode ter sido roubado: docs/runbooks/operators.md diz o que fazer e em que ordem.',
    administrators: 'Você recebe esta mensagem porque administra {workspace}.',
    account: 'Você recebe esta mensagem porque tem uma conta em {workspace}.',
    operators: 'Você recebe esta mensagem porque é operador deste serviço, ou era até esta alteração.',
  },
  pl: {
    requester: 'Na wniosek',
    reason: 'Powód',
    unexpected: 'Jeśli nikt u Państwa o to nie prosił, prosimy o kontakt z operatorem tej usługi.',
    notYou: 'Jeśli to nie Państwo, prosimy zmienić hasło i skontaktować się z administratorem {workspace}.',
    stolen:
      'Jeśli nikt z Państwa tego nie chciał, być może skradziono token: docs/runbooks/operators.md mówi, co zrobić i w jakiej kolejności.',
    administrators: 'Otrzymują Państwo tę wiadomość, ponieważ administrują Państwo {workspace}.',
    account: 'Otrzymują Państwo tę wiadomość, ponieważ mają Państwo konto w {workspace}.',
    operators: 'Otrzymują Państwo tę wiadomość, ponieważ są Państwo operatorem tej usługi lub byli nim do tej zmiany.',
  },
  sv: {
    requester: 'Begärt av',
    reason: 'Skäl',
    unexpected: 'Om ingen hos er har bett om detta, kontakta den som driver tjänsten.',
    notYou: 'Om det inte var du, byt lösenord och kontakta en administratör för {workspace}.',
    stolen:
      'Om ingen av er ville detta kan en token vara stulen: docs/runbooks/operators.md säger vad som ska göras, och i vilken ordning.',
    administrators: 'Du får detta meddelande eftersom du administrerar {workspace}.',
    account: 'Du får detta meddelande eftersom du har ett konto i {workspace}.',
    operators:
      'Du får detta meddelande eftersom du är operatör för den här tjänsten, eller var det fram till ändringen.',
  },
  da: {
    requester: 'Anmodet af',
    reason: 'Begrundelse',
    unexpected: 'Hvis ingen hos jer har bedt om dette, så kontakt den, der driver tjenesten.',
    notYou: 'Hvis det ikke var dig, så skift din adgangskode og kontakt en administrator af {workspace}.',
    stolen:
      'Hvis ingen af jer ville dette, er et token måske stjålet: docs/runbooks/operators.md siger, hvad der skal gøres, og i hvilken rækkefølge.',
    administrators: 'Du modtager denne mail, fordi du administrerer {workspace}.',
    account: 'Du modtager denne mail, fordi du har en konto i {workspace}.',
    operators: 'Du modtager denne mail, fordi du er operatør af denne tjeneste eller var det indtil denne ændring.',
  },
  cs: {
    requester: 'Na žádost',
    reason: 'Důvod',
    unexpected: 'Pokud o to nikdo z vás nežádal, obraťte se na provozovatele této služby.',
    notYou: 'Pokud jste to nebyli vy, změňte si heslo a obraťte se na správce {workspace}.',
    stolen:
      'Pokud to nikdo z vás nechtěl, mohl být odcizen token: docs/runbooks/operators.md říká, co dělat a v jakém pořadí.',
    administrators: 'Tuto zprávu dostáváte, protože spravujete {workspace}.',
    account: 'Tuto zprávu dostáváte, protože máte účet v {workspace}.',
    operators: 'Tuto zprávu dostáváte, protože jste operátorem této služby, nebo jste jím do této změny byli.',
  },
  ja: {
    requester: '依頼者',
    reason: '理由',
    unexpected: '心当たりがない場合は、このサービスの運営者にお問い合わせください。',
    notYou: '心当たりがない場合は、パスワードを変更し、{workspace} の管理者にご連絡ください。',
    stolen:
      'どなたにも心当たりがない場合は、トークンが盗まれた可能性があります。対処とその順序は docs/runbooks/operators.md にあります。',
    administrators: 'このメールは {workspace} の管理者の方にお送りしています。',
    account: 'このメールは {workspace} にアカウントをお持ちの方にお送りしています。',
    operators: 'このメールは、このサービスの運営者の方、またはこの変更まで運営者だった方にお送りしています。',
  },
}
