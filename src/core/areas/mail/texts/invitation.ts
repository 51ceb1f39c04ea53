/** The mail with which somebody is invited. It holds no text of whoever invites: it would be mail in our name. */
import type { InEveryLanguage } from './language.ts'

export const invited: InEveryLanguage = {
  en: {
    subject: 'Invitation: {workspace}',
    says: [
      'You are invited to join {workspace}. The link works once, until {moment}.',
      'If you do not know what this is about, you need to do nothing.',
    ],
    action: 'Join {workspace}',
  },
  de: {
    subject: 'Einladung: {workspace}',
    says: [
      'Sie sind eingeladen, {workspace} beizutreten. Der Link gilt einmal, bis {moment}.',
      'Falls Sie nicht wissen, worum es geht, ist nichts zu tun.',
    ],
    action: '{workspace} beitreten',
  },
  fr: {
    subject: 'Invitation : {workspace}',
    says: [
      'Vous êtes invité à rejoindre {workspace}. Le lien ne sert qu’une fois. Fin : {moment}.',
      'Si vous ne savez pas de quoi il s’agit, il n’y a rien à faire.',
    ],
    action: 'Rejoindre {workspace}',
  },
  es: {
    subject: 'Invitación: {workspace}',
    says: [
      'Se le ha invitado a unirse a {workspace}. El enlace sirve una sola vez. Fin: {moment}.',
      'Si no sabe de qué se trata, no tiene que hacer nada.',
    ],
    action: 'Unirse a {workspace}',
  },
  it: {
    subject: 'Invito: {workspace}',
    says: [
      'Siete invitati a partecipare a {workspace}. Il link vale una sola volta. Fine: {moment}.',
      'Se non sapete di che cosa si tratta, non occorre fare nulla.',
    ],
    action: 'Partecipare a {workspace}',
  },
  nl: {
    subject: 'Uitnodiging: {workspace}',
    says: [
      'U bent uitgenodigd om deel te nemen aan {workspace}. De link werkt één keer, tot {moment}.',
      'Weet u niet waar dit over gaat, dan hoeft u niets te doen.',
    ],
    action: 'Deelnemen aan {workspace}',
  },
  pt: {
    subject: 'Convite: {workspace}',
    says: [
      'Você foi convidado a participar de {workspace}. O link serve uma única vez. Fim: {moment}.',
      'Se não sabe do que se trata, não é preciso fazer nada.',
    ],
    action: 'Participar de {workspace}',
  },
  pl: {
    subject: 'Zaproszenie: {workspace}',
    says: [
      'Otrzymali Państwo zaproszenie do {workspace}. Odnośnik działa jeden raz. Koniec: {moment}.',
      'Jeśli nie wiedzą Państwo, o co chodzi, nie trzeba nic robić.',
    ],
    action: 'Dołącz do {workspace}',
  },
  sv: {
    subject: 'Inbjudan: {workspace}',
    says: [
      'Du är inbjuden till {workspace}. Länken fungerar en gång, till {moment}.',
      'Om du inte vet vad det gäller behöver du inte göra något.',
    ],
    action: 'Gå med i {workspace}',
  },
  da: {
    subject: 'Invitation: {workspace}',
    says: [
      'Du er inviteret til {workspace}. Linket virker én gang, indtil {moment}.',
      'Hvis du ikke ved, hvad det drejer sig om, behøver du ikke gøre noget.',
    ],
    action: 'Deltag i {workspace}',
  },
  cs: {
    subject: 'Pozvánka: {workspace}',
    says: [
      'Jste zváni do {workspace}. Odkaz platí jednou. Konec: {moment}.',
      'Pokud nevíte, o co jde, nemusíte nic dělat.',
    ],
    action: 'Připojit se k {workspace}',
  },
  ja: {
    subject: '招待: {workspace}',
    says: [
      '{workspace} に招待されています。リンクは一度だけ使えます。期限: {moment}。',
      'お心当たりがない場合は、何もする必要はありません。',
    ],
    action: '{workspace} に参加する',
  },
}
