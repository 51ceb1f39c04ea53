/** Mails to a person about the own request: it came in, it takes longer, when it is carried out. Spec: Keeping, 2. */
import type { InEveryLanguage } from './language.ts'

/** To the person: a request came in, with the day of its answer. */
export const received: InEveryLanguage = {
  en: {
    subject: 'Your request about your data in {workspace}',
    says: [
      'Your request about your personal data in {workspace} was received. You get an answer by {moment} at the latest.',
    ],
  },
  de: {
    subject: 'Ihre Anfrage zu Ihren Daten bei {workspace}',
    says: [
      'Ihre Anfrage zu Ihren personenbezogenen Daten bei {workspace} ist eingegangen. Sie erhalten spätestens bis {moment} eine Antwort.',
    ],
  },
  fr: {
    subject: 'Votre demande sur vos données dans {workspace}',
    says: [
      'Votre demande concernant vos données personnelles dans {workspace} est arrivée. Vous recevrez une réponse au plus tard le {moment}.',
    ],
  },
  es: {
    subject: 'Su solicitud sobre sus datos en {workspace}',
    says: [
      'Hemos recibido su solicitud sobre sus datos personales en {workspace}. Recibirá una respuesta a más tardar el {moment}.',
    ],
  },
  it: {
    subject: 'La vostra richiesta sui vostri dati in {workspace}',
    says: [
      'La vostra richiesta sui vostri dati personali in {workspace} è arrivata. Riceverete una risposta al più tardi il {moment}.',
    ],
  },
  nl: {
    subject: 'Uw verzoek over uw gegevens in {workspace}',
    says: ['Uw verzoek over uw persoonsgegevens in {workspace} is ontvangen. U krijgt uiterlijk {moment} antwoord.'],
  },
  pt: {
    subject: 'O seu pedido sobre os seus dados em {workspace}',
    says: [
      'O seu pedido sobre os seus dados pessoais em {workspace} foi recebido. Terá uma resposta o mais tardar em {moment}.',
    ],
  },
  pl: {
    subject: 'Państwa wniosek o dane w {workspace}',
    says: [
      'Państwa wniosek dotyczący danych osobowych w {workspace} został przyjęty. Odpowiedź nadejdzie najpóźniej {moment}.',
    ],
  },
  sv: {
    subject: 'Din begäran om dina uppgifter i {workspace}',
    says: ['Din begäran om dina personuppgifter i {workspace} har kommit in. Du får svar senast {moment}.'],
  },
  da: {
    subject: 'Din anmodning om dine data i {workspace}',
    says: ['Din anmodning om dine personoplysninger i {workspace} er modtaget. Du får svar senest {moment}.'],
  },
  cs: {
    subject: 'Vaše žádost o vaše údaje v {workspace}',
    says: ['Vaše žádost týkající se osobních údajů v {workspace} byla přijata. Odpověď dostanete nejpozději {moment}.'],
  },
  ja: {
    subject: '{workspace} の個人データに関するご請求',
    says: ['{workspace} における個人データに関するご請求を受け付けました。遅くとも {moment} までに回答します。'],
  },
}

/** To the person: an administrator entered a request to erase the account. */
export const entered: InEveryLanguage = {
  en: {
    subject: 'The erasure of your account in {workspace} was requested',
    says: [
      'An administrator of {workspace} has entered a request to erase your account and your personal data. It is answered by {moment} at the latest. If you did not ask for it, withdraw the request in the application.',
    ],
  },
  de: {
    subject: 'Die Löschung Ihres Kontos bei {workspace} wurde beantragt',
    says: [
      'Die Verwaltung von {workspace} hat eine Anfrage eingetragen, Ihr Konto und Ihre personenbezogenen Daten zu löschen. Sie wird spätestens bis {moment} beantwortet. Falls Sie das nicht verlangt haben, ziehen Sie die Anfrage in der Anwendung zurück.',
    ],
  },
  fr: {
    subject: 'L’effacement de votre compte dans {workspace} est demandé',
    says: [
      'L’administration de {workspace} a enregistré une demande d’effacement de votre compte et de vos données personnelles. La réponse viendra au plus tard le {moment}. Si vous ne l’avez pas demandé, retirez la demande dans l’application.',
    ],
  },
  es: {
    subject: 'Se ha solicitado la supresión de su cuenta en {workspace}',
    says: [
      'La administración de {workspace} ha registrado una solicitud para suprimir su cuenta y sus datos personales. Se responderá a más tardar el {moment}. Si usted no lo ha pedido, retire la solicitud en la aplicación.',
    ],
  },
  it: {
    subject: 'È stata chiesta la cancellazione del vostro account in {workspace}',
    says: [
      'L’amministrazione di {workspace} ha registrato una richiesta di cancellare il vostro account e i vostri dati personali. La risposta arriverà al più tardi il {moment}. Se non l’avete chiesto voi, ritirate la richiesta nell’applicazione.',
    ],
  },
  nl: {
    subject: 'Er is gevraagd uw account in {workspace} te wissen',
    says: [
      'Een beheerder van {workspace} heeft een verzoek ingevoerd om uw account en uw persoonsgegevens te wissen. Het wordt uiterlijk {moment} beantwoord. Hebt u daar niet om gevraagd, trek het verzoek dan in de toepassing in.',
    ],
  },
  pt: {
    subject: 'Foi pedido o apagamento da sua conta em {workspace}',
    says: [
      'A administração de {workspace} registou um pedido para apagar a sua conta e os seus dados pessoais. Será respondido o mais tardar em {moment}. Se não o pediu, retire o pedido na aplicação.',
    ],
  },
  pl: {
    subject: 'Złożono wniosek o usunięcie Państwa konta w {workspace}',
    says: [
      'Administrator {workspace} wprowadził wniosek o usunięcie Państwa konta i danych osobowych. Odpowiedź nadejdzie najpóźniej {moment}. Jeśli to nie Państwa wniosek, prosimy wycofać go w aplikacji.',
    ],
  },
  sv: {
    subject: 'Radering av ditt konto i {workspace} har begärts',
    says: [
      'En administratör för {workspace} har lagt in en begäran om att radera ditt konto och dina personuppgifter. Den besvaras senast {moment}. Om du inte har bett om det, återkalla begäran i programmet.',
    ],
  },
  da: {
    subject: 'Der er anmodet om sletning af din konto i {workspace}',
    says: [
      'En administrator af {workspace} har oprettet en anmodning om at slette din konto og dine personoplysninger. Den besvares senest {moment}. Har du ikke bedt om det, så træk anmodningen tilbage i programmet.',
    ],
  },
  cs: {
    subject: 'Bylo požádáno o výmaz vašeho účtu v {workspace}',
    says: [
      'Správce {workspace} zadal žádost o výmaz vašeho účtu a osobních údajů. Bude vyřízena nejpozději {moment}. Pokud jste o to nežádali, vezměte žádost v aplikaci zpět.',
    ],
  },
  ja: {
    subject: '{workspace} のアカウントの消去が請求されました',
    says: [
      '{workspace} の管理者が、あなたのアカウントと個人データの消去の請求を登録しました。遅くとも {moment} までに回答されます。お心当たりがない場合は、アプリケーションで請求を取り下げてください。',
    ],
  },
}

/** To the person: when the account is erased. */
export const erasing: InEveryLanguage = {
  en: {
    subject: 'Your account in {workspace} will be erased',
    says: [
      'Your account in {workspace} and your personal data there will be erased on {moment}. Until then you can withdraw the request in the application; afterwards nothing brings them back.',
    ],
  },
  de: {
    subject: 'Ihr Konto bei {workspace} wird gelöscht',
    says: [
      'Ihr Konto bei {workspace} und Ihre personenbezogenen Daten dort werden gelöscht: {moment}. Bis dahin können Sie die Anfrage in der Anwendung zurückziehen; danach lässt sich nichts wiederherstellen.',
    ],
  },
  fr: {
    subject: 'Votre compte dans {workspace} sera effacé',
    says: [
      'Votre compte dans {workspace} et vos données personnelles y seront effacés le {moment}. D’ici là vous pouvez retirer la demande dans l’application ; ensuite rien ne les ramène.',
    ],
  },
  es: {
    subject: 'Su cuenta en {workspace} se suprimirá',
    says: [
      'Su cuenta en {workspace} y sus datos personales allí se suprimirán el {moment}. Hasta entonces puede retirar la solicitud en la aplicación; después nada los recupera.',
    ],
  },
  it: {
    subject: 'Il vostro account in {workspace} sarà cancellato',
    says: [
      'Il vostro account in {workspace} e i vostri dati personali saranno cancellati il {moment}. Fino ad allora potete ritirare la richiesta nell’applicazione; dopo, nulla li riporta indietro.',
    ],
  },
  nl: {
    subject: 'Uw account in {workspace} wordt gewist',
    says: [
      'Uw account in {workspace} en uw persoonsgegevens daar worden gewist op {moment}. Tot dan kunt u het verzoek in de toepassing intrekken; daarna komt niets terug.',
    ],
  },
  pt: {
    subject: 'A sua conta em {workspace} será apagada',
    says: [
      'A sua conta em {workspace} e os seus dados pessoais serão apagados em {moment}. Até lá pode retirar o pedido na aplicação; depois nada os traz de volta.',
    ],
  },
  pl: {
    subject: 'Państwa konto w {workspace} zostanie usunięte',
    says: [
      'Państwa konto w {workspace} i dane osobowe zostaną usunięte {moment}. Do tego czasu wniosek można wycofać w aplikacji; potem nic ich nie przywróci.',
    ],
  },
  sv: {
    subject: 'Ditt konto i {workspace} raderas',
    says: [
      'Ditt konto i {workspace} och dina personuppgifter där raderas {moment}. Till dess kan du återkalla begäran i programmet; därefter kommer inget tillbaka.',
    ],
  },
  da: {
    subject: 'Din konto i {workspace} bliver slettet',
    says: [
      'Din konto i {workspace} og dine personoplysninger dér slettes {moment}. Indtil da kan du trække anmodningen tilbage i programmet; derefter kommer intet tilbage.',
    ],
  },
  cs: {
    subject: 'Váš účet v {workspace} bude vymazán',
    says: [
      'Váš účet v {workspace} a vaše osobní údaje budou vymazány {moment}. Do té doby můžete žádost v aplikaci vzít zpět; poté je nic nevrátí.',
    ],
  },
  ja: {
    subject: '{workspace} のアカウントが消去されます',
    says: [
      '{workspace} のあなたのアカウントと個人データは {moment} に消去されます。それまではアプリケーションで請求を取り下げられます。その後は元に戻せません。',
    ],
  },
}

/** To the person: the answer takes longer, and until when. */
export const extended: InEveryLanguage = {
  en: {
    subject: 'The answer to your request takes longer: {workspace}',
    says: [
      'The answer to your request about your personal data in {workspace} takes longer. You get it by {moment} at the latest. The application shows why.',
    ],
  },
  de: {
    subject: 'Die Antwort auf Ihre Anfrage dauert länger: {workspace}',
    says: [
      'Die Antwort auf Ihre Anfrage zu Ihren personenbezogenen Daten bei {workspace} dauert länger. Sie erhalten sie spätestens bis {moment}. Die Anwendung zeigt den Grund.',
    ],
  },
  fr: {
    subject: 'La réponse à votre demande prend plus de temps : {workspace}',
    says: [
      'La réponse à votre demande concernant vos données personnelles dans {workspace} prend plus de temps. Vous l’aurez au plus tard le {moment}. L’application en montre la raison.',
    ],
  },
  es: {
    subject: 'La respuesta a su solicitud tarda más: {workspace}',
    says: [
      'La respuesta a su solicitud sobre sus datos personales en {workspace} tarda más. La recibirá a más tardar el {moment}. La aplicación muestra el motivo.',
    ],
  },
  it: {
    subject: 'La risposta alla vostra richiesta richiede più tempo: {workspace}',
    says: [
      'La risposta alla vostra richiesta sui vostri dati personali in {workspace} richiede più tempo. La riceverete al più tardi il {moment}. L’applicazione ne mostra il motivo.',
    ],
  },
  nl: {
    subject: 'Het antwoord op uw verzoek duurt langer: {workspace}',
    says: [
      'Het antwoord op uw verzoek over uw persoonsgegevens in {workspace} duurt langer. U krijgt het uiterlijk {moment}. De toepassing toont de reden.',
    ],
  },
  pt: {
    subject: 'A resposta ao seu pedido demora mais: {workspace}',
    says: [
      'A resposta ao seu pedido sobre os seus dados pessoais em {workspace} demora mais. Terá a resposta o mais tardar em {moment}. A aplicação mostra o motivo.',
    ],
  },
  pl: {
    subject: 'Odpowiedź na Państwa wniosek potrwa dłużej: {workspace}',
    says: [
      'Odpowiedź na Państwa wniosek dotyczący danych osobowych w {workspace} potrwa dłużej. Nadejdzie najpóźniej {moment}. Aplikacja pokazuje powód.',
    ],
  },
  sv: {
    subject: 'Svaret på din begäran dröjer: {workspace}',
    says: [
      'Svaret på din begäran om dina personuppgifter i {workspace} dröjer. Du får det senast {moment}. Programmet visar varför.',
    ],
  },
  da: {
    subject: 'Svaret på din anmodning tager længere tid: {workspace}',
    says: [
      'Svaret på din anmodning om dine personoplysninger i {workspace} tager længere tid. Du får det senest {moment}. Programmet viser hvorfor.',
    ],
  },
  cs: {
    subject: 'Odpověď na vaši žádost potrvá déle: {workspace}',
    says: [
      'Odpověď na vaši žádost týkající se osobních údajů v {workspace} potrvá déle. Dostanete ji nejpozději {moment}. Aplikace ukazuje důvod.',
    ],
  },
  ja: {
    subject: 'ご請求への回答が遅れます: {workspace}',
    says: [
      '{workspace} における個人データに関するご請求への回答には時間がかかります。遅くとも {moment} までに回答します。理由はアプリケーションで確認できます。',
    ],
  },
}
