/** Mails about an account's own second factor: switched on, switched off, a recovery code used, new ones made. */
import type { InEveryLanguage } from './language.ts'

export const on: InEveryLanguage = {
  en: {
    subject: 'Second factor switched on: {workspace}',
    says: [
      'Since {moment}, signing in to {workspace} requires a code of your authenticator app in addition to your password.',
    ],
  },
  de: {
    subject: 'Zweiter Faktor eingeschaltet: {workspace}',
    says: [
      'Seit {moment} fragt die Anmeldung bei {workspace} neben Ihrem Passwort nach einem Code Ihrer Authenticator-App.',
    ],
  },
  fr: {
    subject: 'Second facteur activé : {workspace}',
    says: [
      'La connexion à {workspace} demande désormais, en plus de votre mot de passe, un code de votre application d’authentification. Depuis : {moment}.',
    ],
  },
  es: {
    subject: 'Segundo factor activado: {workspace}',
    says: [
      'El inicio de sesión en {workspace} pide ahora, además de su contraseña, un código de su aplicación de autenticación. Desde: {moment}.',
    ],
  },
  it: {
    subject: 'Secondo fattore attivato: {workspace}',
    says: [
      'L’accesso a {workspace} richiede ora, oltre alla password, un codice della vostra app di autenticazione. Dal: {moment}.',
    ],
  },
  nl: {
    subject: 'Tweede factor ingeschakeld: {workspace}',
    says: [
      'Sinds {moment} vraagt het aanmelden bij {workspace} naast uw wachtwoord om een code van uw authenticator-app.',
    ],
  },
  pt: {
    subject: 'Segundo fator ativado: {workspace}',
    says: [
      'O acesso a {workspace} pede agora, além da sua senha, um código do seu aplicativo de autenticação. Desde: {moment}.',
    ],
  },
  pl: {
    subject: 'Drugi składnik włączony: {workspace}',
    says: ['Logowanie do {workspace} wymaga teraz oprócz hasła kodu z aplikacji uwierzytelniającej. Od: {moment}.'],
  },
  sv: {
    subject: 'Andra faktor påslagen: {workspace}',
    says: [
      'Sedan {moment} frågar inloggningen i {workspace} utöver ditt lösenord efter en kod från din autentiseringsapp.',
    ],
  },
  da: {
    subject: 'Anden faktor slået til: {workspace}',
    says: ['Login i {workspace} beder nu ud over din adgangskode om en kode fra din godkendelsesapp. Siden: {moment}.'],
  },
  cs: {
    subject: 'Druhý faktor zapnut: {workspace}',
    says: ['Přihlášení do {workspace} nyní kromě hesla vyžaduje kód z vaší ověřovací aplikace. Od: {moment}.'],
  },
  ja: {
    subject: '二要素認証が有効になりました: {workspace}',
    says: ['{moment} より、{workspace} へのサインインではパスワードに加えて認証アプリのコードが必要になります。'],
  },
}

export const off: InEveryLanguage = {
  en: {
    subject: 'Second factor switched off: {workspace}',
    says: ['Since {moment}, you sign in to {workspace} with your password alone. Your recovery codes no longer work.'],
  },
  de: {
    subject: 'Zweiter Faktor ausgeschaltet: {workspace}',
    says: [
      'Seit {moment} genügt für die Anmeldung bei {workspace} Ihr Passwort. Ihre Wiederherstellungscodes sind ungültig.',
    ],
  },
  fr: {
    subject: 'Second facteur désactivé : {workspace}',
    says: [
      'Votre mot de passe suffit désormais pour vous connecter à {workspace}. Vos codes de secours ne sont plus valables. Depuis : {moment}.',
    ],
  },
  es: {
    subject: 'Segundo factor desactivado: {workspace}',
    says: [
      'Su contraseña basta ahora para iniciar sesión en {workspace}. Sus códigos de recuperación ya no son válidos. Desde: {moment}.',
    ],
  },
  it: {
    subject: 'Secondo fattore disattivato: {workspace}',
    says: [
      'Per accedere a {workspace} basta ora la password. I codici di recupero non sono più validi. Dal: {moment}.',
    ],
  },
  nl: {
    subject: 'Tweede factor uitgeschakeld: {workspace}',
    says: ['Sinds {moment} volstaat uw wachtwoord om u bij {workspace} aan te melden. Uw herstelcodes zijn ongeldig.'],
  },
  pt: {
    subject: 'Segundo fator desativado: {workspace}',
    says: [
      'Sua senha basta agora para entrar em {workspace}. Seus códigos de recuperação não valem mais. Desde: {moment}.',
    ],
  },
  pl: {
    subject: 'Drugi składnik wyłączony: {workspace}',
    says: ['Do logowania w {workspace} wystarcza teraz hasło. Kody odzyskiwania są nieważne. Od: {moment}.'],
  },
  sv: {
    subject: 'Andra faktor avstängd: {workspace}',
    says: [
      'Sedan {moment} räcker ditt lösenord för att logga in i {workspace}. Dina återställningskoder gäller inte längre.',
    ],
  },
  da: {
    subject: 'Anden faktor slået fra: {workspace}',
    says: [
      'Din adgangskode er nu nok til at logge ind i {workspace}. Dine gendannelseskoder er ugyldige. Siden: {moment}.',
    ],
  },
  cs: {
    subject: 'Druhý faktor vypnut: {workspace}',
    says: ['K přihlášení do {workspace} nyní stačí heslo. Vaše obnovovací kódy jsou neplatné. Od: {moment}.'],
  },
  ja: {
    subject: '二要素認証が無効になりました: {workspace}',
    says: ['{moment} より、{workspace} へはパスワードだけでサインインできます。回復コードは無効になりました。'],
  },
}

export const codeUsed: InEveryLanguage = {
  en: {
    subject: 'A recovery code was used: {workspace}',
    says: [
      'On {moment} one of your recovery codes was used in place of your authenticator app at {workspace}. It does not work again.',
    ],
  },
  de: {
    subject: 'Ein Wiederherstellungscode wurde benutzt: {workspace}',
    says: [
      'Einer Ihrer Wiederherstellungscodes hat bei {workspace} Ihre Authenticator-App ersetzt ({moment}). Er gilt nicht noch einmal.',
    ],
  },
  fr: {
    subject: 'Un code de secours a été utilisé : {workspace}',
    says: [
      'Un de vos codes de secours a remplacé votre application d’authentification auprès de {workspace} ({moment}). Il ne servira plus.',
    ],
  },
  es: {
    subject: 'Se ha usado un código de recuperación: {workspace}',
    says: [
      'Uno de sus códigos de recuperación ha sustituido a su aplicación de autenticación en {workspace} ({moment}). No volverá a servir.',
    ],
  },
  it: {
    subject: 'È stato usato un codice di recupero: {workspace}',
    says: [
      'Uno dei vostri codici di recupero ha sostituito l’app di autenticazione in {workspace} ({moment}). Non vale una seconda volta.',
    ],
  },
  nl: {
    subject: 'Er is een herstelcode gebruikt: {workspace}',
    says: [
      'Een van uw herstelcodes heeft bij {workspace} uw authenticator-app vervangen ({moment}). Hij werkt niet nog eens.',
    ],
  },
  pt: {
    subject: 'Um código de recuperação foi usado: {workspace}',
    says: [
      'Um dos seus códigos de recuperação substituiu seu aplicativo de autenticação em {workspace} ({moment}). Ele não vale outra vez.',
    ],
  },
  pl: {
    subject: 'Użyto kodu odzyskiwania: {workspace}',
    says: [
      'Jeden z kodów odzyskiwania zastąpił aplikację uwierzytelniającą w {workspace} ({moment}). Nie zadziała ponownie.',
    ],
  },
  sv: {
    subject: 'En återställningskod användes: {workspace}',
    says: [
      'En av dina återställningskoder ersatte din autentiseringsapp i {workspace} ({moment}). Den gäller inte en gång till.',
    ],
  },
  da: {
    subject: 'En gendannelseskode blev brugt: {workspace}',
    says: [
      'En af dine gendannelseskoder trådte i stedet for din godkendelsesapp i {workspace} ({moment}). Den virker ikke igen.',
    ],
  },
  cs: {
    subject: 'Byl použit obnovovací kód: {workspace}',
    says: [
      'Jeden z vašich obnovovacích kódů nahradil ověřovací aplikaci v {workspace} ({moment}). Znovu fungovat nebude.',
    ],
  },
  ja: {
    subject: '回復コードが使用されました: {workspace}',
    says: ['{moment}、{workspace} で認証アプリの代わりに回復コードが使用されました。このコードは再び使えません。'],
  },
}

export const codesMade: InEveryLanguage = {
  en: {
    subject: 'New recovery codes: {workspace}',
    says: ['New recovery codes were made for your account in {workspace} on {moment}. The old codes no longer work.'],
  },
  de: {
    subject: 'Neue Wiederherstellungscodes: {workspace}',
    says: [
      'Für Ihr Konto in {workspace} wurden neue Wiederherstellungscodes erstellt ({moment}). Die alten sind ungültig.',
    ],
  },
  fr: {
    subject: 'Nouveaux codes de secours : {workspace}',
    says: [
      'De nouveaux codes de secours ont été créés pour votre compte dans {workspace} ({moment}). Les anciens ne sont plus valables.',
    ],
  },
  es: {
    subject: 'Nuevos códigos de recuperación: {workspace}',
    says: [
      'Se han creado nuevos códigos de recuperación para su cuenta en {workspace} ({moment}). Los anteriores ya no son válidos.',
    ],
  },
  it: {
    subject: 'Nuovi codici di recupero: {workspace}',
    says: [
      'Sono stati creati nuovi codici di recupero per il vostro account in {workspace} ({moment}). I precedenti non sono più validi.',
    ],
  },
  nl: {
    subject: 'Nieuwe herstelcodes: {workspace}',
    says: ['Voor uw account in {workspace} zijn nieuwe herstelcodes gemaakt ({moment}). De oude zijn ongeldig.'],
  },
  pt: {
    subject: 'Novos códigos de recuperação: {workspace}',
    says: [
      'Foram criados novos códigos de recuperação para sua conta em {workspace} ({moment}). Os antigos não valem mais.',
    ],
  },
  pl: {
    subject: 'Nowe kody odzyskiwania: {workspace}',
    says: ['Utworzono nowe kody odzyskiwania dla konta w {workspace} ({moment}). Poprzednie są nieważne.'],
  },
  sv: {
    subject: 'Nya återställningskoder: {workspace}',
    says: ['Nya återställningskoder har skapats för ditt konto i {workspace} ({moment}). De gamla gäller inte längre.'],
  },
  da: {
    subject: 'Nye gendannelseskoder: {workspace}',
    says: ['Der er lavet nye gendannelseskoder til din konto i {workspace} ({moment}). De gamle er ugyldige.'],
  },
  cs: {
    subject: 'Nové obnovovací kódy: {workspace}',
    says: ['Pro váš účet v {workspace} byly vytvořeny nové obnovovací kódy ({moment}). Staré jsou neplatné.'],
  },
  ja: {
    subject: '新しい回復コード: {workspace}',
    says: ['{workspace} のアカウントの新しい回復コードが作成されました({moment})。以前のコードは無効です。'],
  },
}
