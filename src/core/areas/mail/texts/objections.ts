/** Mails about restrictions, and about the AI model to which people may object. Spec: Keeping, 2. */
import type { InEveryLanguage } from './language.ts'

/** To the person, before it ends. */
export const restrictionEnded: InEveryLanguage = {
  en: {
    subject: 'Your data in {workspace} are no longer restricted',
    says: [
      'The restriction of the processing of your data in the workspace {workspace} ends ({moment}). From then on, your name is shown again, and people may assign and mention you.',
      'If you do not agree, contact an administrator of {workspace}. You can also complain to a supervisory authority.',
    ],
  },
  de: {
    subject: 'Ihre Daten in {workspace} sind nicht länger eingeschränkt',
    says: [
      'Die Einschränkung der Verarbeitung Ihrer Daten im Arbeitsbereich {workspace} endet ({moment}). Ab dann wird Ihr Name wieder angezeigt, und Sie können wieder zugewiesen und erwähnt werden.',
      'Wenn Sie nicht einverstanden sind, wenden Sie sich an eine Administratorin oder einen Administrator von {workspace}. Sie können sich auch bei einer Aufsichtsbehörde beschweren.',
    ],
  },
  fr: {
    subject: 'Vos données dans {workspace} ne sont plus limitées',
    says: [
      'La limitation du traitement de vos données dans l’espace de travail {workspace} prend fin ({moment}). Dès lors, votre nom est de nouveau affiché, et l’on peut vous assigner des tâches et vous mentionner.',
      'Si vous n’êtes pas d’accord, adressez-vous à l’administration de {workspace}. Vous pouvez aussi saisir une autorité de contrôle.',
    ],
  },
  es: {
    subject: 'Sus datos en {workspace} ya no están limitados',
    says: [
      'La limitación del tratamiento de sus datos en el espacio de trabajo {workspace} termina ({moment}). Desde entonces su nombre vuelve a mostrarse, y se le puede asignar y mencionar.',
      'Si no está de acuerdo, diríjase a la administración de {workspace}. También puede reclamar ante una autoridad de control.',
    ],
  },
  it: {
    subject: 'I vostri dati in {workspace} non sono più limitati',
    says: [
      'La limitazione del trattamento dei vostri dati nello spazio di lavoro {workspace} termina ({moment}). Da allora il vostro nome è di nuovo visibile, e potete essere assegnati e menzionati.',
      'Se non siete d’accordo, rivolgetevi a chi amministra {workspace}. Potete anche presentare reclamo a un’autorità di controllo.',
    ],
  },
  nl: {
    subject: 'Uw gegevens in {workspace} zijn niet langer beperkt',
    says: [
      'De beperking van de verwerking van uw gegevens in de werkruimte {workspace} eindigt ({moment}). Vanaf dan wordt uw naam weer getoond en kunt u weer worden toegewezen en genoemd.',
      'Bent u het er niet mee eens, neem dan contact op met een beheerder van {workspace}. U kunt ook een klacht indienen bij een toezichthouder.',
    ],
  },
  pt: {
    subject: 'Os seus dados em {workspace} deixam de estar limitados',
    says: [
      'A limitação do tratamento dos seus dados no espaço de trabalho {workspace} termina ({moment}). A partir daí o seu nome volta a ser mostrado, e pode voltar a ser atribuído e mencionado.',
      'Se não concorda, contacte a administração de {workspace}. Também pode apresentar reclamação a uma autoridade de controlo.',
    ],
  },
  pl: {
    subject: 'Przetwarzanie Twoich danych w {workspace} nie jest już ograniczone',
    says: [
      'Ograniczenie przetwarzania Twoich danych w przestrzeni roboczej {workspace} kończy się ({moment}). Od tej chwili Twoje imię i nazwisko znów będzie widoczne, a inni będą mogli Cię przypisywać i wspominać.',
      'W razie sprzeciwu skontaktuj się z administracją {workspace}. Możesz też złożyć skargę do organu nadzorczego.',
    ],
  },
  sv: {
    subject: 'Dina uppgifter i {workspace} är inte längre begränsade',
    says: [
      'Begränsningen av behandlingen av dina uppgifter i arbetsytan {workspace} upphör ({moment}). Därefter visas ditt namn igen, och du kan tilldelas och nämnas.',
      'Om du inte håller med, kontakta en administratör för {workspace}. Du kan också klaga hos en tillsynsmyndighet.',
    ],
  },
  da: {
    subject: 'Dine oplysninger i {workspace} er ikke længere begrænset',
    says: [
      'Begrænsningen af behandlingen af dine oplysninger i arbejdsområdet {workspace} ophører ({moment}). Herefter vises dit navn igen, og du kan tildeles og nævnes.',
      'Er du ikke enig, så kontakt en administrator af {workspace}. Du kan også klage til en tilsynsmyndighed.',
    ],
  },
  cs: {
    subject: 'Vaše údaje v {workspace} už nejsou omezeny',
    says: [
      'Omezení zpracování vašich údajů v pracovním prostoru {workspace} končí ({moment}). Od té chvíle se vaše jméno opět zobrazuje a ostatní vás mohou přiřazovat a zmiňovat.',
      'Pokud nesouhlasíte, obraťte se na správce {workspace}. Můžete také podat stížnost u dozorového úřadu.',
    ],
  },
  ja: {
    subject: '{workspace} でのあなたのデータの制限が終わります',
    says: [
      'ワークスペース {workspace} でのあなたのデータの取扱いの制限は {moment} に終わります。それ以降は氏名が再び表示され、割り当てやメンションの対象になります。',
      '異議がある場合は {workspace} の管理者にご連絡ください。監督機関に苦情を申し立てることもできます。',
    ],
  },
}

/** To everybody of the workspace. */
export const aiModel: InEveryLanguage = {
  en: {
    subject: '{workspace} uses an AI model of {processor}',
    says: [
      'Since {moment}, the workspace {workspace} may send texts to the AI model {model}. They are processed by {processor} ({jurisdiction}), to make summaries that people ask for.',
      'You have the right to object at any time: then no text of yours is sent to it. You find the objection in the settings of your account, under privacy.',
    ],
  },
  de: {
    subject: '{workspace} nutzt ein KI-Modell von {processor}',
    says: [
      'Der Arbeitsbereich {workspace} darf seit {moment} Texte an das KI-Modell {model} senden. Sie werden von {processor} ({jurisdiction}) verarbeitet, um angeforderte Zusammenfassungen zu erstellen.',
      'Sie können dem jederzeit widersprechen: Dann wird kein Text von Ihnen gesendet. Den Widerspruch finden Sie in den Einstellungen Ihres Kontos unter Datenschutz.',
    ],
  },
  fr: {
    subject: '{workspace} utilise un modèle d’IA de {processor}',
    says: [
      'Depuis le {moment}, l’espace de travail {workspace} peut envoyer des textes au modèle d’IA {model}. Ils sont traités par {processor} ({jurisdiction}) pour faire les résumés demandés.',
      'Vous avez le droit de vous y opposer à tout moment : aucun de vos textes ne lui est alors envoyé. L’opposition se trouve dans les réglages de votre compte, sous confidentialité.',
    ],
  },
  es: {
    subject: '{workspace} usa un modelo de IA de {processor}',
    says: [
      'Desde {moment}, el espacio de trabajo {workspace} puede enviar textos al modelo de IA {model}. Los trata {processor} ({jurisdiction}) para hacer los resúmenes que se piden.',
      'Tiene derecho a oponerse en cualquier momento: entonces no se le envía ningún texto suyo. La oposición está en los ajustes de su cuenta, en privacidad.',
    ],
  },
  it: {
    subject: '{workspace} usa un modello di IA di {processor}',
    says: [
      'Dal {moment} lo spazio di lavoro {workspace} può inviare testi al modello di IA {model}. Li tratta {processor} ({jurisdiction}) per fare i riassunti richiesti.',
      'Avete il diritto di opporvi in ogni momento: allora nessun vostro testo gli viene inviato. L’opposizione si trova nelle impostazioni del vostro account, alla voce privacy.',
    ],
  },
  nl: {
    subject: '{workspace} gebruikt een AI-model van {processor}',
    says: [
      'Sinds {moment} mag de werkruimte {workspace} teksten naar het AI-model {model} sturen. Ze worden verwerkt door {processor} ({jurisdiction}) om gevraagde samenvattingen te maken.',
      'U mag daar altijd bezwaar tegen maken: dan wordt geen tekst van u verstuurd. U vindt het bezwaar in de instellingen van uw account, onder privacy.',
    ],
  },
  pt: {
    subject: '{workspace} usa um modelo de IA de {processor}',
    says: [
      'Desde {moment}, o espaço de trabalho {workspace} pode enviar textos ao modelo de IA {model}. São tratados por {processor} ({jurisdiction}) para fazer os resumos pedidos.',
      'Tem o direito de se opor a qualquer momento: então nenhum texto seu lhe é enviado. A oposição está nas definições da sua conta, em privacidade.',
    ],
  },
  pl: {
    subject: '{workspace} używa modelu AI firmy {processor}',
    says: [
      'Od {moment} przestrzeń robocza {workspace} może wysyłać teksty do modelu AI {model}. Przetwarza je {processor} ({jurisdiction}), aby tworzyć zamawiane streszczenia.',
      'W każdej chwili masz prawo się sprzeciwić: wtedy żaden Twój tekst nie jest wysyłany. Sprzeciw znajduje się w ustawieniach konta, w części o prywatności.',
    ],
  },
  sv: {
    subject: '{workspace} använder en AI-modell från {processor}',
    says: [
      'Sedan {moment} får arbetsytan {workspace} skicka texter till AI-modellen {model}. De behandlas av {processor} ({jurisdiction}) för att göra sammanfattningar som någon ber om.',
      'Du har rätt att när som helst invända: då skickas ingen text av dig. Invändningen finns i ditt kontos inställningar, under integritet.',
    ],
  },
  da: {
    subject: '{workspace} bruger en AI-model fra {processor}',
    says: [
      'Siden {moment} må arbejdsområdet {workspace} sende tekster til AI-modellen {model}. De behandles af {processor} ({jurisdiction}) for at lave de resuméer, der bedes om.',
      'Du har til enhver tid ret til at gøre indsigelse: så sendes ingen tekst af dig. Indsigelsen findes i din kontos indstillinger, under privatliv.',
    ],
  },
  cs: {
    subject: '{workspace} používá model AI společnosti {processor}',
    says: [
      'Od {moment} smí pracovní prostor {workspace} posílat texty modelu AI {model}. Zpracovává je {processor} ({jurisdiction}), aby vznikly požadované souhrny.',
      'Máte právo kdykoli vznést námitku: pak se neposílá žádný váš text. Námitku najdete v nastavení účtu v části o soukromí.',
    ],
  },
  ja: {
    subject: '{workspace} は {processor} の AI モデルを使用しています',
    says: [
      'ワークスペース {workspace} は {moment} から AI モデル {model} にテキストを送信できます。求められた要約を作るため、{processor}({jurisdiction})が処理します。',
      'いつでも異議を申し立てる権利があります。その場合、あなたのテキストは送信されません。異議は、アカウントの設定のプライバシーにあります。',
    ],
  },
}
