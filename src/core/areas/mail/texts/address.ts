/** Mails about addresses of accounts: the link that confirms one, what its holder is told, and that something changed. */
import type { InEveryLanguage } from './language.ts'

export const confirm: InEveryLanguage = {
  en: {
    subject: 'Confirm your address: {workspace}',
    says: [
      'This address is to belong to an account in {workspace}. Open the link and sign in with that account, until {moment}.',
      'If you have no such account, you need to do nothing: the link alone confirms nothing.',
    ],
    action: 'Confirm the address',
  },
  de: {
    subject: 'Adresse bestätigen: {workspace}',
    says: [
      'Diese Adresse soll zu einem Konto bei {workspace} gehören. Öffnen Sie den Link und melden Sie sich mit diesem Konto an, bis {moment}.',
      'Falls Sie kein solches Konto haben, ist nichts zu tun: Der Link allein bestätigt nichts.',
    ],
    action: 'Adresse bestätigen',
  },
  fr: {
    subject: 'Confirmer votre adresse : {workspace}',
    says: [
      'Cette adresse doit appartenir à un compte dans {workspace}. Ouvrez le lien et connectez-vous avec ce compte. Fin : {moment}.',
      'Si vous n’avez pas ce compte, il n’y a rien à faire : le lien seul ne confirme rien.',
    ],
    action: 'Confirmer l’adresse',
  },
  es: {
    subject: 'Confirmar su dirección: {workspace}',
    says: [
      'Esta dirección ha de pertenecer a una cuenta en {workspace}. Abra el enlace e inicie sesión con esa cuenta. Fin: {moment}.',
      'Si no tiene tal cuenta, no tiene que hacer nada: el enlace por sí solo no confirma nada.',
    ],
    action: 'Confirmar la dirección',
  },
  it: {
    subject: 'Confermare l’indirizzo: {workspace}',
    says: [
      'Questo indirizzo deve appartenere a un account in {workspace}. Aprite il link e accedete con quell’account. Fine: {moment}.',
      'Se non avete un tale account, non occorre fare nulla: il link da solo non conferma niente.',
    ],
    action: 'Confermare l’indirizzo',
  },
  nl: {
    subject: 'Bevestig uw adres: {workspace}',
    says: [
      'Dit adres moet bij een account in {workspace} gaan horen. Open de link en meld u aan met dat account, tot {moment}.',
      'Hebt u zo’n account niet, dan hoeft u niets te doen: de link alleen bevestigt niets.',
    ],
    action: 'Adres bevestigen',
  },
  pt: {
    subject: 'Confirmar o seu endereço: {workspace}',
    says: [
      'Este endereço deve pertencer a uma conta em {workspace}. Abra o link e entre com essa conta. Fim: {moment}.',
      'Se não tem essa conta, não é preciso fazer nada: o link sozinho não confirma nada.',
    ],
    action: 'Confirmar o endereço',
  },
  pl: {
    subject: 'Potwierdzenie adresu: {workspace}',
    says: [
      'Ten adres ma należeć do konta w {workspace}. Proszę otworzyć odnośnik i zalogować się na to konto. Koniec: {moment}.',
      'Jeśli nie mają Państwo takiego konta, nie trzeba nic robić: sam odnośnik niczego nie potwierdza.',
    ],
    action: 'Potwierdź adres',
  },
  sv: {
    subject: 'Bekräfta din adress: {workspace}',
    says: [
      'Den här adressen ska höra till ett konto i {workspace}. Öppna länken och logga in med det kontot, senast {moment}.',
      'Om du inte har något sådant konto behöver du inte göra något: länken ensam bekräftar ingenting.',
    ],
    action: 'Bekräfta adressen',
  },
  da: {
    subject: 'Bekræft din adresse: {workspace}',
    says: [
      'Denne adresse skal høre til en konto i {workspace}. Åbn linket, og log ind med den konto, senest {moment}.',
      'Hvis du ikke har en sådan konto, behøver du ikke gøre noget: linket alene bekræfter intet.',
    ],
    action: 'Bekræft adressen',
  },
  cs: {
    subject: 'Potvrzení adresy: {workspace}',
    says: [
      'Tato adresa má patřit k účtu v {workspace}. Otevřete odkaz a přihlaste se tímto účtem. Konec: {moment}.',
      'Pokud takový účet nemáte, nemusíte nic dělat: samotný odkaz nic nepotvrdí.',
    ],
    action: 'Potvrdit adresu',
  },
  ja: {
    subject: 'メールアドレスの確認: {workspace}',
    says: [
      'このアドレスを {workspace} のアカウントに追加します。リンクを開き、そのアカウントでサインインしてください。期限: {moment}。',
      'そのようなアカウントをお持ちでない場合は、何もする必要はありません。リンクを開くだけでは確認されません。',
    ],
    action: 'アドレスを確認する',
  },
}

export const taken: InEveryLanguage = {
  en: {
    subject: 'Your address was asked for: {workspace}',
    says: [
      'Somebody asked for this address for another account in {workspace} ({moment}). It stays with yours; nothing changed.',
    ],
  },
  de: {
    subject: 'Ihre Adresse wurde angefragt: {workspace}',
    says: [
      'Diese Adresse wurde für ein anderes Konto bei {workspace} ({moment}) angefragt. Sie bleibt bei Ihrem; nichts hat sich geändert.',
    ],
  },
  fr: {
    subject: 'Votre adresse a été demandée : {workspace}',
    says: [
      'Cette adresse a été demandée pour un autre compte dans {workspace} ({moment}). Elle reste la vôtre ; rien n’a changé.',
    ],
  },
  es: {
    subject: 'Se ha solicitado su dirección: {workspace}',
    says: [
      'Se ha solicitado esta dirección para otra cuenta en {workspace} ({moment}). Sigue siendo suya; nada ha cambiado.',
    ],
  },
  it: {
    subject: 'È stato richiesto il vostro indirizzo: {workspace}',
    says: [
      'Questo indirizzo è stato richiesto per un altro account in {workspace} ({moment}). Resta vostro; nulla è cambiato.',
    ],
  },
  nl: {
    subject: 'Uw adres is aangevraagd: {workspace}',
    says: [
      'Dit adres is aangevraagd voor een ander account in {workspace} ({moment}). Het blijft bij het uwe; er is niets veranderd.',
    ],
  },
  pt: {
    subject: 'O seu endereço foi pedido: {workspace}',
    says: ['Este endereço foi pedido para outra conta em {workspace} ({moment}). Continua a ser seu; nada mudou.'],
  },
  pl: {
    subject: 'Poproszono o Państwa adres: {workspace}',
    says: [
      'Poproszono o ten adres dla innego konta w {workspace} ({moment}). Pozostaje on przy Państwa koncie; nic się nie zmieniło.',
    ],
  },
  sv: {
    subject: 'Din adress efterfrågades: {workspace}',
    says: [
      'Någon bad om den här adressen för ett annat konto i {workspace} ({moment}). Den är kvar hos dig; inget har ändrats.',
    ],
  },
  da: {
    subject: 'Din adresse blev efterspurgt: {workspace}',
    says: [
      'Nogen bad om denne adresse til en anden konto i {workspace} ({moment}). Den bliver ved din; intet er ændret.',
    ],
  },
  cs: {
    subject: 'Někdo požádal o vaši adresu: {workspace}',
    says: ['O tuto adresu někdo požádal pro jiný účet v {workspace} ({moment}). Zůstává u vašeho; nic se nezměnilo.'],
  },
  ja: {
    subject: 'アドレスの追加が求められました: {workspace}',
    says: [
      '{workspace} ({moment}) の別のアカウントについて、このアドレスの追加が求められました。アドレスは引き続きあなたのアカウントのもので、変更はありません。',
    ],
  },
}

export const changed: InEveryLanguage = {
  en: {
    subject: 'Addresses changed: {workspace}',
    says: [
      'The addresses of your account in {workspace} changed ({moment}): one was added, confirmed, removed, or made the one that mail goes to.',
    ],
  },
  de: {
    subject: 'Adressen geändert: {workspace}',
    says: [
      'Die Adressen Ihres Kontos bei {workspace} haben sich geändert ({moment}): Eine kam hinzu, wurde bestätigt oder entfernt, oder bekommt nun die Post.',
    ],
  },
  fr: {
    subject: 'Adresses modifiées : {workspace}',
    says: [
      'Les adresses de votre compte dans {workspace} ont changé ({moment}) : l’une a été ajoutée, confirmée, retirée, ou reçoit désormais les messages.',
    ],
  },
  es: {
    subject: 'Direcciones modificadas: {workspace}',
    says: [
      'Las direcciones de su cuenta en {workspace} han cambiado ({moment}): se ha añadido, confirmado o quitado una, o una recibe ahora los mensajes.',
    ],
  },
  it: {
    subject: 'Indirizzi modificati: {workspace}',
    says: [
      'Gli indirizzi del vostro account in {workspace} sono cambiati ({moment}): uno è stato aggiunto, confermato, rimosso, o riceve ora i messaggi.',
    ],
  },
  nl: {
    subject: 'Adressen gewijzigd: {workspace}',
    says: [
      'De adressen van uw account bij {workspace} zijn gewijzigd ({moment}): er is er een toegevoegd, bevestigd of verwijderd, of een ander krijgt nu de mail.',
    ],
  },
  pt: {
    subject: 'Endereços alterados: {workspace}',
    says: [
      'Os endereços da sua conta em {workspace} mudaram ({moment}): um foi adicionado, confirmado, removido, ou recebe agora as mensagens.',
    ],
  },
  pl: {
    subject: 'Zmiana adresów: {workspace}',
    says: [
      'Adresy Państwa konta w {workspace} uległy zmianie ({moment}): jeden dodano, potwierdzono, usunięto lub wybrano jako adres poczty.',
    ],
  },
  sv: {
    subject: 'Adresser ändrade: {workspace}',
    says: [
      'Adresserna för ditt konto i {workspace} ändrades ({moment}): en lades till, bekräftades, togs bort eller får nu posten.',
    ],
  },
  da: {
    subject: 'Adresser ændret: {workspace}',
    says: [
      'Adresserne på din konto i {workspace} blev ændret ({moment}): en blev tilføjet, bekræftet, fjernet eller får nu posten.',
    ],
  },
  cs: {
    subject: 'Změna adres: {workspace}',
    says: [
      'Adresy vašeho účtu v {workspace} se změnily ({moment}): některá přibyla, byla potvrzena či odebrána, nebo na ni nyní chodí pošta.',
    ],
  },
  ja: {
    subject: 'アドレスが変更されました: {workspace}',
    says: [
      '{workspace} のあなたのアカウントのアドレスが変更されました({moment})。追加、確認、削除、または送信先の変更です。',
    ],
  },
}
