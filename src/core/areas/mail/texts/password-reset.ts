/** Mails about a password: the link for a new one, and the notices that it was set, or changed. */
import type { InEveryLanguage } from './language.ts'

export const asked: InEveryLanguage = {
  en: {
    subject: 'Set a new password: {workspace}',
    says: [
      'Somebody asked for a new password for your account in {workspace}. The link works once, until {moment}.',
      'If this was not you, you need to do nothing: your password stays as it is.',
    ],
    action: 'Set a new password',
  },
  de: {
    subject: 'Neues Passwort setzen: {workspace}',
    says: [
      'Für Ihr Konto bei {workspace} wurde ein neues Passwort angefordert. Der Link gilt einmal, bis {moment}.',
      'Falls Sie das nicht waren, ist nichts zu tun: Ihr Passwort bleibt, wie es ist.',
    ],
    action: 'Neues Passwort setzen',
  },
  fr: {
    subject: 'Définir un nouveau mot de passe : {workspace}',
    says: [
      'Un nouveau mot de passe a été demandé pour votre compte dans {workspace}. Le lien ne sert qu’une fois. Fin : {moment}.',
      'Si ce n’était pas vous, il n’y a rien à faire : votre mot de passe ne change pas.',
    ],
    action: 'Définir un nouveau mot de passe',
  },
  es: {
    subject: 'Establecer una contraseña nueva: {workspace}',
    says: [
      'Se ha solicitado una contraseña nueva para su cuenta en {workspace}. El enlace sirve una sola vez. Fin: {moment}.',
      'Si no ha sido usted, no tiene que hacer nada: su contraseña sigue siendo la misma.',
    ],
    action: 'Establecer una contraseña nueva',
  },
  it: {
    subject: 'Impostare una nuova password: {workspace}',
    says: [
      'È stata richiesta una nuova password per il vostro account in {workspace}. Il link vale una sola volta. Fine: {moment}.',
      'Se non è stata opera vostra, non occorre fare nulla: la password resta quella che è.',
    ],
    action: 'Impostare una nuova password',
  },
  nl: {
    subject: 'Nieuw wachtwoord instellen: {workspace}',
    says: [
      'Er is een nieuw wachtwoord aangevraagd voor uw account bij {workspace}. De link werkt één keer, tot {moment}.',
      'Was u dit niet, dan hoeft u niets te doen: uw wachtwoord blijft zoals het is.',
    ],
    action: 'Nieuw wachtwoord instellen',
  },
  pt: {
    subject: 'Definir uma nova senha: {workspace}',
    says: [
      'Foi pedida uma nova senha para a sua conta em {workspace}. O link serve uma única vez. Fim: {moment}.',
      'Se não foi você, não é preciso fazer nada: a sua senha continua a mesma.',
    ],
    action: 'Definir uma nova senha',
  },
  pl: {
    subject: 'Ustawianie nowego hasła: {workspace}',
    says: [
      'Poproszono o nowe hasło do konta w {workspace}. Odnośnik działa jeden raz. Koniec: {moment}.',
      'Jeśli to nie Państwo, nie trzeba nic robić: hasło pozostaje bez zmian.',
    ],
    action: 'Ustaw nowe hasło',
  },
  sv: {
    subject: 'Ange ett nytt lösenord: {workspace}',
    says: [
      'Någon bad om ett nytt lösenord för ditt konto i {workspace}. Länken fungerar en gång, till {moment}.',
      'Om det inte var du behöver du inte göra något: ditt lösenord är oförändrat.',
    ],
    action: 'Ange ett nytt lösenord',
  },
  da: {
    subject: 'Angiv en ny adgangskode: {workspace}',
    says: [
      'Nogen bad om en ny adgangskode til din konto i {workspace}. Linket virker én gang, indtil {moment}.',
      'Hvis det ikke var dig, skal du ikke gøre noget: din adgangskode er uændret.',
    ],
    action: 'Angiv en ny adgangskode',
  },
  cs: {
    subject: 'Nastavení nového hesla: {workspace}',
    says: [
      'Pro váš účet v {workspace} bylo vyžádáno nové heslo. Odkaz platí jednou. Konec: {moment}.',
      'Pokud jste to nebyli vy, není třeba nic dělat: vaše heslo zůstává beze změny.',
    ],
    action: 'Nastavit nové heslo',
  },
  ja: {
    subject: '新しいパスワードの設定: {workspace}',
    says: [
      '{workspace} のアカウントについて、新しいパスワードの設定が求められました。リンクは一度だけ、{moment} まで使えます。',
      '心当たりがない場合は、何もする必要はありません。パスワードは変わりません。',
    ],
    action: '新しいパスワードを設定する',
  },
}

export const done: InEveryLanguage = {
  en: {
    subject: 'New password set: {workspace}',
    says: [
      'A new password was set for your account in {workspace} with a link from a mail ({moment}). All your sessions have ended.',
    ],
  },
  de: {
    subject: 'Neues Passwort gesetzt: {workspace}',
    says: [
      'Für Ihr Konto bei {workspace} wurde mit dem Link einer E-Mail ein neues Passwort gesetzt ({moment}). Alle Sitzungen sind beendet.',
    ],
  },
  fr: {
    subject: 'Nouveau mot de passe défini : {workspace}',
    says: [
      'Un nouveau mot de passe a été défini pour votre compte dans {workspace} avec le lien d’un message ({moment}). Toutes les sessions sont terminées.',
    ],
  },
  es: {
    subject: 'Contraseña nueva establecida: {workspace}',
    says: [
      'Se ha establecido una contraseña nueva para su cuenta en {workspace} con el enlace de un mensaje ({moment}). Todas las sesiones han terminado.',
    ],
  },
  it: {
    subject: 'Nuova password impostata: {workspace}',
    says: [
      'È stata impostata una nuova password per il vostro account in {workspace} con il link di un messaggio ({moment}). Tutte le sessioni sono terminate.',
    ],
  },
  nl: {
    subject: 'Nieuw wachtwoord ingesteld: {workspace}',
    says: [
      'Voor uw account bij {workspace} is met de link uit een e-mail een nieuw wachtwoord ingesteld ({moment}). Alle sessies zijn beëindigd.',
    ],
  },
  pt: {
    subject: 'Nova senha definida: {workspace}',
    says: [
      'Foi definida uma nova senha para a sua conta em {workspace} com o link de uma mensagem ({moment}). Todas as sessões terminaram.',
    ],
  },
  pl: {
    subject: 'Ustawiono nowe hasło: {workspace}',
    says: [
      'Za pomocą odnośnika z wiadomości ustawiono nowe hasło do konta w {workspace} ({moment}). Wszystkie sesje zostały zakończone.',
    ],
  },
  sv: {
    subject: 'Nytt lösenord angivet: {workspace}',
    says: [
      'Ett nytt lösenord angavs för ditt konto i {workspace} med länken i ett mejl ({moment}). Alla sessioner är avslutade.',
    ],
  },
  da: {
    subject: 'Ny adgangskode angivet: {workspace}',
    says: [
      'Der er angivet en ny adgangskode til din konto i {workspace} med linket i en mail ({moment}). Alle sessioner er afsluttet.',
    ],
  },
  cs: {
    subject: 'Nové heslo nastaveno: {workspace}',
    says: [
      'Pro váš účet v {workspace} bylo odkazem z e-mailu nastaveno nové heslo ({moment}). Všechny relace byly ukončeny.',
    ],
  },
  ja: {
    subject: '新しいパスワードが設定されました: {workspace}',
    says: [
      'メールのリンクにより、{workspace} のアカウントに新しいパスワードが設定されました({moment})。すべてのセッションは終了しました。',
    ],
  },
}

export const changed: InEveryLanguage = {
  en: {
    subject: 'Password changed: {workspace}',
    says: [
      'The password of your account in {workspace} was changed with the old one ({moment}). All other sessions have ended.',
    ],
  },
  de: {
    subject: 'Passwort geändert: {workspace}',
    says: [
      'Das Passwort Ihres Kontos bei {workspace} wurde mit dem alten geändert ({moment}). Alle anderen Sitzungen sind beendet.',
    ],
  },
  fr: {
    subject: 'Mot de passe modifié : {workspace}',
    says: [
      'Le mot de passe de votre compte dans {workspace} a été modifié avec l’ancien ({moment}). Toutes les autres sessions sont terminées.',
    ],
  },
  es: {
    subject: 'Contraseña cambiada: {workspace}',
    says: [
      'La contraseña de su cuenta en {workspace} se ha cambiado con la anterior ({moment}). Todas las demás sesiones han terminado.',
    ],
  },
  it: {
    subject: 'Password modificata: {workspace}',
    says: [
      'La password del vostro account in {workspace} è stata modificata con quella precedente ({moment}). Tutte le altre sessioni sono terminate.',
    ],
  },
  nl: {
    subject: 'Wachtwoord gewijzigd: {workspace}',
    says: [
      'Het wachtwoord van uw account bij {workspace} is met het oude gewijzigd ({moment}). Alle andere sessies zijn beëindigd.',
    ],
  },
  pt: {
    subject: 'Senha alterada: {workspace}',
    says: [
      'A senha da sua conta em {workspace} foi alterada com a anterior ({moment}). Todas as outras sessões terminaram.',
    ],
  },
  pl: {
    subject: 'Zmieniono hasło: {workspace}',
    says: [
      'Hasło do konta w {workspace} zmieniono za pomocą poprzedniego ({moment}). Wszystkie inne sesje zostały zakończone.',
    ],
  },
  sv: {
    subject: 'Lösenordet har ändrats: {workspace}',
    says: [
      'Lösenordet för ditt konto i {workspace} ändrades med det gamla ({moment}). Alla andra sessioner har avslutats.',
    ],
  },
  da: {
    subject: 'Adgangskoden er ændret: {workspace}',
    says: [
      'Adgangskoden til din konto i {workspace} blev ændret med den gamle ({moment}). Alle andre sessioner er afsluttet.',
    ],
  },
  cs: {
    subject: 'Heslo bylo změněno: {workspace}',
    says: [
      'Heslo vašeho účtu v {workspace} bylo změněno pomocí starého ({moment}). Všechny ostatní relace byly ukončeny.',
    ],
  },
  ja: {
    subject: 'パスワードが変更されました: {workspace}',
    says: [
      '{workspace} のアカウントのパスワードが、以前のパスワードを使って変更されました（{moment}）。ほかのセッションはすべて終了しました。',
    ],
  },
}
