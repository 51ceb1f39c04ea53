/** Mails about rules of retention. `{kind}` is the rule's name, as the API has it. Spec: Keeping, 4. */
import type { InEveryLanguage } from './language.ts'

/** To the people who administer the workspace. */
export const shortened: InEveryLanguage = {
  en: {
    subject: '{workspace} will keep {kind} for {next_days} days only',
    says: [
      'Somebody decided that the workspace {workspace} keeps {kind} for {next_days} days instead of {days} (0: for ever). This takes effect on {moment}. What is older then is removed for good.',
      'Until then you can take it back: set the days of the rule as they are now.',
    ],
  },
  de: {
    subject: '{workspace} bewahrt {kind} nur noch {next_days} Tage auf',
    says: [
      'Es wurde entschieden, dass der Arbeitsbereich {workspace} {kind} nur noch {next_days} statt {days} Tage aufbewahrt (0: für immer). Das gilt ab {moment}. Was dann älter ist, wird endgültig entfernt.',
      'Bis dahin können Sie es zurücknehmen: Setzen Sie die Tage der Regel auf den jetzigen Wert.',
    ],
  },
  fr: {
    subject: '{workspace} ne conservera {kind} que {next_days} jours',
    says: [
      'Il a été décidé que l’espace de travail {workspace} conserve {kind} pendant {next_days} jours au lieu de {days} (0 : pour toujours). Cela prend effet le {moment}. Ce qui est alors plus ancien est supprimé définitivement.',
      'D’ici là, vous pouvez revenir en arrière : remettez la durée actuelle de la règle.',
    ],
  },
  es: {
    subject: '{workspace} conservará {kind} solo {next_days} días',
    says: [
      'Se ha decidido que el espacio de trabajo {workspace} conserve {kind} durante {next_days} días en lugar de {days} (0: para siempre). Esto tendrá efecto el {moment}. Lo que entonces sea más antiguo se eliminará definitivamente.',
      'Hasta entonces puede anularlo: vuelva a poner los días actuales de la regla.',
    ],
  },
  it: {
    subject: '{workspace} conserverà {kind} solo per {next_days} giorni',
    says: [
      'È stato deciso che lo spazio di lavoro {workspace} conservi {kind} per {next_days} giorni invece di {days} (0: per sempre). Ha effetto dal {moment}. Ciò che allora è più vecchio viene rimosso definitivamente.',
      'Fino ad allora potete annullarlo: reimpostate i giorni attuali della regola.',
    ],
  },
  nl: {
    subject: '{workspace} bewaart {kind} nog maar {next_days} dagen',
    says: [
      'Er is besloten dat de werkruimte {workspace} {kind} {next_days} dagen bewaart in plaats van {days} (0: voor altijd). Dit gaat in op {moment}. Wat dan ouder is, wordt definitief verwijderd.',
      'Tot die tijd kunt u het terugdraaien: zet de dagen van de regel op de huidige waarde.',
    ],
  },
  pt: {
    subject: '{workspace} vai guardar {kind} apenas {next_days} dias',
    says: [
      'Foi decidido que o espaço de trabalho {workspace} guarda {kind} durante {next_days} dias em vez de {days} (0: para sempre). Tem efeito em {moment}. O que então for mais antigo é removido definitivamente.',
      'Até lá pode anulá-lo: volte a pôr os dias atuais da regra.',
    ],
  },
  pl: {
    subject: '{workspace} będzie przechowywać {kind} tylko przez {next_days} dni',
    says: [
      'Zdecydowano, że przestrzeń robocza {workspace} przechowuje {kind} przez {next_days} dni zamiast {days} (0: bez końca). Zacznie to obowiązywać {moment}. To, co będzie wtedy starsze, zostanie trwale usunięte.',
      'Do tego czasu można to cofnąć: należy przywrócić obecną liczbę dni reguły.',
    ],
  },
  sv: {
    subject: '{workspace} sparar {kind} i bara {next_days} dagar',
    says: [
      'Någon har bestämt att arbetsytan {workspace} sparar {kind} i {next_days} dagar i stället för {days} (0: för alltid). Det börjar gälla {moment}. Det som då är äldre tas bort för gott.',
      'Till dess kan ni ta tillbaka det: sätt regelns dagar till det nuvarande värdet.',
    ],
  },
  da: {
    subject: '{workspace} gemmer kun {kind} i {next_days} dage',
    says: [
      'Det er besluttet, at arbejdsområdet {workspace} gemmer {kind} i {next_days} dage i stedet for {days} (0: for altid). Det træder i kraft {moment}. Det, der da er ældre, fjernes endeligt.',
      'Indtil da kan I tage det tilbage: sæt reglens dage til den nuværende værdi.',
    ],
  },
  cs: {
    subject: '{workspace} bude uchovávat {kind} jen {next_days} dní',
    says: [
      'Bylo rozhodnuto, že pracovní prostor {workspace} uchovává {kind} {next_days} dní místo {days} (0: navždy). Začne to platit {moment}. Co bude tehdy starší, bude trvale odstraněno.',
      'Do té doby to můžete vzít zpět: nastavte dny pravidla na současnou hodnotu.',
    ],
  },
  ja: {
    subject: '{workspace} での {kind} の保存期間が {next_days} 日に短縮されます',
    says: [
      'ワークスペース {workspace} の {kind} の保存期間を {days} 日(0: 無期限)から {next_days} 日に短縮する決定がされました。{moment} から有効になり、その時点でそれより古いものは完全に削除されます。',
      'それまでは取り消せます。ルールの日数を現在の値に戻してください。',
    ],
  },
}

/** To the OWNERs, who alone let it go on. */
export const stopped: InEveryLanguage = {
  en: {
    subject: 'A rule of {workspace} was stopped: it would have taken {would_go} of {kind}',
    says: [
      'The rule {kind} of the workspace {workspace} would have taken {would_go} at once, which is more than a fifth of what there is. It was stopped on {moment}, and takes nothing until an owner decides.',
      'Look at the preview of the rule. If it is right, set the same days again with the hash of the preview; if it is not, set more days.',
    ],
  },
  de: {
    subject: 'Eine Regel von {workspace} wurde angehalten: sie hätte {would_go} von {kind} entfernt',
    says: [
      'Die Regel {kind} des Arbeitsbereichs {workspace} hätte {would_go} auf einmal erfasst, mehr als ein Fünftel des Bestands. Sie wurde angehalten ({moment}) und entfernt nichts, bis ein Inhaber entscheidet.',
      'Sehen Sie sich die Vorschau der Regel an. Ist sie richtig, setzen Sie dieselben Tage mit dem Hash der Vorschau; ist sie es nicht, setzen Sie mehr Tage.',
    ],
  },
  fr: {
    subject: 'Une règle de {workspace} a été arrêtée : elle aurait touché {would_go} de {kind}',
    says: [
      'La règle {kind} de l’espace de travail {workspace} aurait touché {would_go} d’un coup, plus d’un cinquième de l’ensemble. Elle a été arrêtée ({moment}) et ne supprime rien tant qu’un propriétaire n’a pas décidé.',
      'Regardez l’aperçu de la règle. S’il est juste, remettez la même durée avec le hash de l’aperçu ; sinon, mettez plus de jours.',
    ],
  },
  es: {
    subject: 'Se ha detenido una regla de {workspace}: habría afectado a {would_go} de {kind}',
    says: [
      'La regla {kind} del espacio de trabajo {workspace} habría afectado a {would_go} de una vez, más de una quinta parte del total. Se detuvo ({moment}) y no elimina nada hasta que un propietario decida.',
      'Mire la vista previa de la regla. Si es correcta, vuelva a poner los mismos días con el hash de la vista previa; si no lo es, ponga más días.',
    ],
  },
  it: {
    subject: 'Una regola di {workspace} è stata fermata: avrebbe toccato {would_go} di {kind}',
    says: [
      'La regola {kind} dello spazio di lavoro {workspace} avrebbe toccato {would_go} in una volta, più di un quinto del totale. È stata fermata ({moment}) e non rimuove nulla finché un proprietario non decide.',
      'Guardate l’anteprima della regola. Se è giusta, reimpostate gli stessi giorni con l’hash dell’anteprima; se non lo è, impostate più giorni.',
    ],
  },
  nl: {
    subject: 'Een regel van {workspace} is gestopt: hij zou {would_go} van {kind} hebben geraakt',
    says: [
      'De regel {kind} van de werkruimte {workspace} zou in één keer {would_go} hebben geraakt, meer dan een vijfde van het geheel. Hij is gestopt ({moment}) en verwijdert niets totdat een eigenaar beslist.',
      'Bekijk het voorbeeld van de regel. Klopt het, zet dan dezelfde dagen opnieuw met de hash van het voorbeeld; klopt het niet, zet dan meer dagen.',
    ],
  },
  pt: {
    subject: 'Uma regra de {workspace} foi parada: teria atingido {would_go} de {kind}',
    says: [
      'A regra {kind} do espaço de trabalho {workspace} teria atingido {would_go} de uma vez, mais de um quinto do total. Foi parada ({moment}) e não remove nada até que um proprietário decida.',
      'Veja a pré-visualização da regra. Se estiver certa, volte a pôr os mesmos dias com o hash da pré-visualização; se não, ponha mais dias.',
    ],
  },
  pl: {
    subject: 'Wstrzymano regułę {workspace}: objęłaby {would_go} z {kind}',
    says: [
      'Reguła {kind} przestrzeni roboczej {workspace} objęłaby naraz {would_go}, czyli ponad jedną piątą całości. Wstrzymano ją ({moment}) i nic nie usuwa, dopóki nie zdecyduje właściciel.',
      'Należy obejrzeć podgląd reguły. Jeśli jest właściwy, trzeba ustawić te same dni ze skrótem podglądu; jeśli nie, więcej dni.',
    ],
  },
  sv: {
    subject: 'En regel för {workspace} stoppades: den skulle ha tagit {would_go} av {kind}',
    says: [
      'Regeln {kind} för arbetsytan {workspace} skulle ha tagit {would_go} på en gång, mer än en femtedel av allt. Den stoppades ({moment}) och tar inget förrän en ägare bestämmer.',
      'Titta på förhandsvisningen av regeln. Stämmer den, sätt samma dagar igen med förhandsvisningens hash; annars fler dagar.',
    ],
  },
  da: {
    subject: 'En regel for {workspace} blev stoppet: den ville have taget {would_go} af {kind}',
    says: [
      'Reglen {kind} for arbejdsområdet {workspace} ville have taget {would_go} på én gang, mere end en femtedel af det hele. Den blev stoppet ({moment}) og fjerner intet, før en ejer bestemmer.',
      'Se på reglens forhåndsvisning. Er den rigtig, så sæt de samme dage igen med forhåndsvisningens hash; ellers flere dage.',
    ],
  },
  cs: {
    subject: 'Pravidlo {workspace} bylo zastaveno: zasáhlo by {would_go} z {kind}',
    says: [
      'Pravidlo {kind} pracovního prostoru {workspace} by najednou zasáhlo {would_go}, tedy víc než pětinu celku. Bylo zastaveno ({moment}) a nic neodstraňuje, dokud nerozhodne vlastník.',
      'Podívejte se na náhled pravidla. Je-li správný, nastavte stejné dny znovu s otiskem náhledu; není-li, nastavte více dní.',
    ],
  },
  ja: {
    subject: '{workspace} のルールを停止しました({kind} のうち {would_go} 件が対象)',
    says: [
      'ワークスペース {workspace} のルール {kind} は、一度に {would_go} 件、全体の 5 分の 1 を超える数を対象とするところでした。{moment} に停止し、オーナーが決めるまで何も削除しません。',
      'ルールのプレビューを確認してください。正しければプレビューのハッシュを付けて同じ日数を設定し、正しくなければ日数を増やしてください。',
    ],
  },
}
