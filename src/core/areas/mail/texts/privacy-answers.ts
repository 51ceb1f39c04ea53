/** Mails about requests on personal data: their answer, and what administrators have to do. Spec: Keeping, 2. */
import type { InEveryLanguage } from './language.ts'

/** To the person: the request was answered; whoever disagrees may complain. */
export const answered: InEveryLanguage = {
  en: {
    subject: 'Your request about your data in {workspace} was answered',
    says: [
      'Your request about your personal data in {workspace} was answered on {moment}. The application shows the decision and its ground.',
      'If you do not agree, you can complain to a data protection authority, and go to court.',
    ],
  },
  de: {
    subject: 'Ihre Anfrage zu Ihren Daten bei {workspace} wurde beantwortet',
    says: [
      'Ihre Anfrage zu Ihren personenbezogenen Daten bei {workspace} wurde beantwortet: {moment}. Die Anwendung zeigt die Entscheidung und ihren Grund.',
      'Wenn Sie nicht einverstanden sind, können Sie sich bei einer Datenschutzaufsichtsbehörde beschweren und vor Gericht gehen.',
    ],
  },
  fr: {
    subject: 'Votre demande sur vos données dans {workspace} a reçu une réponse',
    says: [
      'Votre demande concernant vos données personnelles dans {workspace} a reçu une réponse le {moment}. L’application montre la décision et son motif.',
      'Si vous n’êtes pas d’accord, vous pouvez introduire une réclamation auprès d’une autorité de protection des données et saisir un tribunal.',
    ],
  },
  es: {
    subject: 'Su solicitud sobre sus datos en {workspace} tiene respuesta',
    says: [
      'Su solicitud sobre sus datos personales en {workspace} se respondió el {moment}. La aplicación muestra la decisión y su motivo.',
      'Si no está de acuerdo, puede reclamar ante una autoridad de protección de datos y acudir a los tribunales.',
    ],
  },
  it: {
    subject: 'La vostra richiesta sui vostri dati in {workspace} ha una risposta',
    says: [
      'Alla vostra richiesta sui vostri dati personali in {workspace} è stato risposto il {moment}. L’applicazione mostra la decisione e il suo motivo.',
      'Se non siete d’accordo, potete presentare un reclamo a un’autorità per la protezione dei dati e rivolgervi a un tribunale.',
    ],
  },
  nl: {
    subject: 'Uw verzoek over uw gegevens in {workspace} is beantwoord',
    says: [
      'Uw verzoek over uw persoonsgegevens in {workspace} is beantwoord op {moment}. De toepassing toont het besluit en de reden.',
      'Bent u het er niet mee eens, dan kunt u een klacht indienen bij een gegevensbeschermingsautoriteit en naar de rechter gaan.',
    ],
  },
  pt: {
    subject: 'O seu pedido sobre os seus dados em {workspace} foi respondido',
    says: [
      'O seu pedido sobre os seus dados pessoais em {workspace} foi respondido em {moment}. A aplicação mostra a decisão e o seu motivo.',
      'Se não concorda, pode reclamar junto de uma autoridade de proteção de dados e recorrer a um tribunal.',
    ],
  },
  pl: {
    subject: 'Odpowiedź na Państwa wniosek o dane w {workspace}',
    says: [
      'Na Państwa wniosek dotyczący danych osobowych w {workspace} udzielono odpowiedzi {moment}. Aplikacja pokazuje decyzję i jej powód.',
      'Jeśli się Państwo nie zgadzają, mogą Państwo złożyć skargę do organu ochrony danych i zwrócić się do sądu.',
    ],
  },
  sv: {
    subject: 'Din begäran om dina uppgifter i {workspace} har besvarats',
    says: [
      'Din begäran om dina personuppgifter i {workspace} besvarades {moment}. Programmet visar beslutet och skälet.',
      'Om du inte håller med kan du klaga hos en dataskyddsmyndighet och gå till domstol.',
    ],
  },
  da: {
    subject: 'Din anmodning om dine data i {workspace} er besvaret',
    says: [
      'Din anmodning om dine personoplysninger i {workspace} blev besvaret {moment}. Programmet viser afgørelsen og begrundelsen.',
      'Er du ikke enig, kan du klage til en datatilsynsmyndighed og gå til domstolene.',
    ],
  },
  cs: {
    subject: 'Vaše žádost o vaše údaje v {workspace} byla vyřízena',
    says: [
      'Vaše žádost týkající se osobních údajů v {workspace} byla vyřízena {moment}. Aplikace ukazuje rozhodnutí a jeho důvod.',
      'Pokud nesouhlasíte, můžete podat stížnost u dozorového úřadu pro ochranu údajů a obrátit se na soud.',
    ],
  },
  ja: {
    subject: '{workspace} の個人データに関するご請求への回答',
    says: [
      '{workspace} における個人データに関するご請求に {moment} に回答しました。決定とその理由はアプリケーションで確認できます。',
      '同意されない場合は、データ保護の監督機関に苦情を申し立て、または裁判所に訴えることができます。',
    ],
  },
}

/** To the person: the package of the own data can be fetched. */
export const packaged: InEveryLanguage = {
  en: {
    subject: 'Your data from {workspace} can be fetched',
    says: [
      'The package with your personal data from {workspace} is ready. Fetch it in the application until {moment}.',
    ],
  },
  de: {
    subject: 'Ihre Daten aus {workspace} liegen bereit',
    says: [
      'Das Paket mit Ihren personenbezogenen Daten aus {workspace} liegt bereit. Laden Sie es in der Anwendung herunter, bis {moment}.',
    ],
  },
  fr: {
    subject: 'Vos données de {workspace} sont prêtes',
    says: [
      'Le paquet contenant vos données personnelles de {workspace} est prêt. Téléchargez-le dans l’application jusqu’au {moment}.',
    ],
  },
  es: {
    subject: 'Sus datos de {workspace} están listos',
    says: [
      'El paquete con sus datos personales de {workspace} está listo. Descárguelo en la aplicación hasta el {moment}.',
    ],
  },
  it: {
    subject: 'I vostri dati di {workspace} sono pronti',
    says: [
      'Il pacchetto con i vostri dati personali di {workspace} è pronto. Scaricatelo nell’applicazione entro il {moment}.',
    ],
  },
  nl: {
    subject: 'Uw gegevens uit {workspace} staan klaar',
    says: [
      'Het pakket met uw persoonsgegevens uit {workspace} staat klaar. Haal het in de toepassing op tot {moment}.',
    ],
  },
  pt: {
    subject: 'Os seus dados de {workspace} estão prontos',
    says: ['O pacote com os seus dados pessoais de {workspace} está pronto. Obtenha-o na aplicação até {moment}.'],
  },
  pl: {
    subject: 'Państwa dane z {workspace} są gotowe',
    says: ['Pakiet z Państwa danymi osobowymi z {workspace} jest gotowy. Można go pobrać w aplikacji do {moment}.'],
  },
  sv: {
    subject: 'Dina uppgifter från {workspace} finns att hämta',
    says: ['Paketet med dina personuppgifter från {workspace} är klart. Hämta det i programmet senast {moment}.'],
  },
  da: {
    subject: 'Dine data fra {workspace} kan hentes',
    says: ['Pakken med dine personoplysninger fra {workspace} er klar. Hent den i programmet senest {moment}.'],
  },
  cs: {
    subject: 'Vaše údaje z {workspace} jsou připraveny',
    says: ['Balíček s vašimi osobními údaji z {workspace} je připraven. Stáhněte si jej v aplikaci do {moment}.'],
  },
  ja: {
    subject: '{workspace} のあなたのデータを受け取れます',
    says: [
      '{workspace} のあなたの個人データのパッケージが用意できました。{moment} までにアプリケーションで受け取ってください。',
    ],
  },
}

/** To the administrators: a request came in. */
export const arrived: InEveryLanguage = {
  en: {
    subject: 'A request about personal data: {workspace}',
    says: [
      'A request about personal data came in at {workspace}. The law wants it answered by {moment}. See it under the requests about personal data.',
    ],
  },
  de: {
    subject: 'Eine Anfrage zu personenbezogenen Daten: {workspace}',
    says: [
      'Bei {workspace} ist eine Anfrage zu personenbezogenen Daten eingegangen. Nach dem Gesetz ist sie bis {moment} zu beantworten. Sie steht unter den Anfragen zu personenbezogenen Daten.',
    ],
  },
  fr: {
    subject: 'Une demande sur des données personnelles : {workspace}',
    says: [
      'Une demande concernant des données personnelles est arrivée dans {workspace}. La loi veut une réponse avant le {moment}. Elle figure parmi les demandes sur les données personnelles.',
    ],
  },
  es: {
    subject: 'Una solicitud sobre datos personales: {workspace}',
    says: [
      'Ha llegado a {workspace} una solicitud sobre datos personales. La ley exige una respuesta antes del {moment}. Está entre las solicitudes sobre datos personales.',
    ],
  },
  it: {
    subject: 'Una richiesta su dati personali: {workspace}',
    says: [
      'In {workspace} è arrivata una richiesta su dati personali. La legge vuole una risposta entro il {moment}. Si trova tra le richieste sui dati personali.',
    ],
  },
  nl: {
    subject: 'Een verzoek over persoonsgegevens: {workspace}',
    says: [
      'Bij {workspace} is een verzoek over persoonsgegevens binnengekomen. De wet wil antwoord vóór {moment}. Het staat bij de verzoeken over persoonsgegevens.',
    ],
  },
  pt: {
    subject: 'Um pedido sobre dados pessoais: {workspace}',
    says: [
      'Chegou a {workspace} um pedido sobre dados pessoais. A lei exige uma resposta até {moment}. Está entre os pedidos sobre dados pessoais.',
    ],
  },
  pl: {
    subject: 'Wniosek dotyczący danych osobowych: {workspace}',
    says: [
      'Do {workspace} wpłynął wniosek dotyczący danych osobowych. Prawo wymaga odpowiedzi do {moment}. Znajduje się wśród wniosków o dane osobowe.',
    ],
  },
  sv: {
    subject: 'En begäran om personuppgifter: {workspace}',
    says: [
      'En begäran om personuppgifter har kommit in till {workspace}. Enligt lag ska den besvaras senast {moment}. Den finns bland begäranden om personuppgifter.',
    ],
  },
  da: {
    subject: 'En anmodning om personoplysninger: {workspace}',
    says: [
      'Der er kommet en anmodning om personoplysninger til {workspace}. Loven kræver svar senest {moment}. Den findes blandt anmodningerne om personoplysninger.',
    ],
  },
  cs: {
    subject: 'Žádost o osobní údaje: {workspace}',
    says: [
      'Do {workspace} přišla žádost týkající se osobních údajů. Zákon vyžaduje odpověď do {moment}. Najdete ji mezi žádostmi o osobní údaje.',
    ],
  },
  ja: {
    subject: '個人データに関する請求: {workspace}',
    says: [
      '{workspace} に個人データに関する請求がありました。法律により {moment} までに回答する必要があります。個人データに関する請求の一覧で確認してください。',
    ],
  },
}

/** To the administrators: a request is open, and its deadline is near or past. */
export const due: InEveryLanguage = {
  en: {
    subject: 'A request about personal data is open: {workspace}',
    says: ['A request about personal data in {workspace} is still open. Its deadline by law is {moment}.'],
  },
  de: {
    subject: 'Eine Anfrage zu personenbezogenen Daten ist offen: {workspace}',
    says: ['Eine Anfrage zu personenbezogenen Daten bei {workspace} ist noch offen. Ihre gesetzliche Frist: {moment}.'],
  },
  fr: {
    subject: 'Une demande sur des données personnelles est ouverte : {workspace}',
    says: [
      'Une demande concernant des données personnelles dans {workspace} est toujours ouverte. Son délai légal : {moment}.',
    ],
  },
  es: {
    subject: 'Una solicitud sobre datos personales está abierta: {workspace}',
    says: ['Una solicitud sobre datos personales en {workspace} sigue abierta. Su plazo legal: {moment}.'],
  },
  it: {
    subject: 'Una richiesta su dati personali è aperta: {workspace}',
    says: ['Una richiesta su dati personali in {workspace} è ancora aperta. Il suo termine di legge: {moment}.'],
  },
  nl: {
    subject: 'Een verzoek over persoonsgegevens staat open: {workspace}',
    says: ['Een verzoek over persoonsgegevens in {workspace} staat nog open. De wettelijke termijn: {moment}.'],
  },
  pt: {
    subject: 'Um pedido sobre dados pessoais está aberto: {workspace}',
    says: ['Um pedido sobre dados pessoais em {workspace} continua aberto. O seu prazo legal: {moment}.'],
  },
  pl: {
    subject: 'Wniosek dotyczący danych osobowych czeka: {workspace}',
    says: ['Wniosek dotyczący danych osobowych w {workspace} wciąż czeka. Jego ustawowy termin: {moment}.'],
  },
  sv: {
    subject: 'En begäran om personuppgifter är öppen: {workspace}',
    says: ['En begäran om personuppgifter i {workspace} är fortfarande öppen. Dess lagstadgade frist: {moment}.'],
  },
  da: {
    subject: 'En anmodning om personoplysninger er åben: {workspace}',
    says: ['En anmodning om personoplysninger i {workspace} er stadig åben. Dens lovbestemte frist: {moment}.'],
  },
  cs: {
    subject: 'Žádost o osobní údaje je otevřená: {workspace}',
    says: ['Žádost týkající se osobních údajů v {workspace} je stále otevřená. Její zákonná lhůta: {moment}.'],
  },
  ja: {
    subject: '個人データに関する請求が未回答です: {workspace}',
    says: ['{workspace} の個人データに関する請求がまだ未回答です。法律上の期限は {moment} です。'],
  },
}
