/** Mail about the identities at providers with which an account signs in. */
import type { InEveryLanguage } from './language.ts'

export const changed: InEveryLanguage = {
  en: {
    subject: 'Sign-in by a provider changed: {workspace}',
    says: [
      'An identity at an identity provider was connected with your account in {workspace}, or taken away from it, at {moment}. Whoever holds a connected identity can sign in as you.',
    ],
  },
  de: {
    subject: 'Anmeldung über einen Anbieter geändert: {workspace}',
    says: [
      'Mit Ihrem Konto bei {workspace} wurde eine Identität bei einem Anbieter verbunden oder von ihm getrennt: {moment}. Wer eine verbundene Identität hat, kann sich als Sie anmelden.',
    ],
  },
  fr: {
    subject: 'Connexion par un fournisseur modifiée : {workspace}',
    says: [
      'Une identité chez un fournisseur a été reliée à votre compte dans {workspace}, ou en a été séparée ({moment}). Qui détient une identité reliée peut se connecter en votre nom.',
    ],
  },
  es: {
    subject: 'Acceso por un proveedor modificado: {workspace}',
    says: [
      'Se ha conectado una identidad de un proveedor a su cuenta en {workspace}, o se ha separado de ella ({moment}). Quien tenga una identidad conectada puede entrar en su nombre.',
    ],
  },
  it: {
    subject: 'Accesso tramite un fornitore modificato: {workspace}',
    says: [
      'Un’identità presso un fornitore è stata collegata al vostro account in {workspace}, o ne è stata staccata ({moment}). Chi possiede un’identità collegata può accedere a vostro nome.',
    ],
  },
  nl: {
    subject: 'Aanmelden via een aanbieder gewijzigd: {workspace}',
    says: [
      'Een identiteit bij een aanbieder is met uw account in {workspace} verbonden, of ervan losgemaakt ({moment}). Wie een verbonden identiteit heeft, kan zich als u aanmelden.',
    ],
  },
  pt: {
    subject: 'Acesso por um provedor alterado: {workspace}',
    says: [
      'Uma identidade em um provedor foi conectada à sua conta em {workspace}, ou separada dela ({moment}). Quem tem uma identidade conectada pode entrar em seu nome.',
    ],
  },
  pl: {
    subject: 'Zmieniono logowanie przez dostawcę: {workspace}',
    says: [
      'Tożsamość u dostawcy połączono z kontem w {workspace} lub od niego odłączono ({moment}). Kto ma połączoną tożsamość, może zalogować się w Twoim imieniu.',
    ],
  },
  sv: {
    subject: 'Inloggning via en leverantör ändrad: {workspace}',
    says: [
      'En identitet hos en leverantör har kopplats till ditt konto i {workspace}, eller tagits bort från det ({moment}). Den som har en kopplad identitet kan logga in som du.',
    ],
  },
  da: {
    subject: 'Login via en udbyder ændret: {workspace}',
    says: [
      'En identitet hos en udbyder er forbundet med din konto i {workspace}, eller taget fra den ({moment}). Den, der har en forbundet identitet, kan logge ind som dig.',
    ],
  },
  cs: {
    subject: 'Přihlášení přes poskytovatele změněno: {workspace}',
    says: [
      'Identita u poskytovatele byla propojena s vaším účtem v {workspace}, nebo od něj odpojena ({moment}). Kdo má propojenou identitu, může se přihlásit jako vy.',
    ],
  },
  ja: {
    subject: 'プロバイダーによるサインインの変更: {workspace}',
    says: [
      '{workspace} のアカウントに、プロバイダーの ID が接続されたか、接続が解除されました({moment})。接続された ID を持つ人は、あなたとしてサインインできます。',
    ],
  },
}
