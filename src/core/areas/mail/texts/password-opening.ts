/** Mails about password openings: opened, closed, ended. Spec: Password opening, "administrators told". */
import type { InEveryLanguage } from './language.ts'

export const opened: InEveryLanguage = {
  en: {
    subject: 'Password sign-in is open: {workspace}',
    says: [
      'Until {moment}, every account of {workspace} that has a password can sign in with it, even if password sign-in is otherwise switched off.',
    ],
  },
  de: {
    subject: 'Anmeldung mit Passwort ist offen: {workspace}',
    says: [
      'Bis {moment} darf sich jedes Konto von {workspace}, das ein Passwort hat, damit anmelden, auch wenn die Anmeldung mit Passwort sonst abgeschaltet ist.',
    ],
  },
  fr: {
    subject: 'Connexion par mot de passe ouverte : {workspace}',
    says: [
      'Chaque compte de {workspace} qui possède un mot de passe peut s’en servir pour se connecter, même si ce mode de connexion est normalement désactivé. Fin : {moment}.',
    ],
  },
  es: {
    subject: 'Inicio de sesión con contraseña abierto: {workspace}',
    says: [
      'Todas las cuentas de {workspace} que tienen contraseña pueden iniciar sesión con ella, aunque normalmente esté desactivado. Fin: {moment}.',
    ],
  },
  it: {
    subject: 'Accesso con password aperto: {workspace}',
    says: [
      'Ogni account di {workspace} che ha una password può usarla per accedere, anche se di norma questo accesso è disattivato. Fine: {moment}.',
    ],
  },
  nl: {
    subject: 'Aanmelden met wachtwoord is open: {workspace}',
    says: [
      'Tot {moment} mag elk account van {workspace} dat een wachtwoord heeft zich daarmee aanmelden, ook als dat anders is uitgeschakeld.',
    ],
  },
  pt: {
    subject: 'Acesso com senha aberto: {workspace}',
    says: [
      'Todas as contas de {workspace} que têm senha podem usá-la para entrar, mesmo que esse acesso esteja normalmente desativado. Fim: {moment}.',
    ],
  },
  pl: {
    subject: 'Logowanie hasłem jest otwarte: {workspace}',
    says: [
      'Każde konto w {workspace}, które ma hasło, może się nim logować, nawet jeśli zwykle jest to wyłączone. Koniec: {moment}.',
    ],
  },
  sv: {
    subject: 'Inloggning med lösenord är öppen: {workspace}',
    says: [
      'Varje konto i {workspace} som har ett lösenord får logga in med det, även om det annars är avstängt. Slutar: {moment}.',
    ],
  },
  da: {
    subject: 'Login med adgangskode er åbent: {workspace}',
    says: [
      'Alle konti i {workspace}, der har en adgangskode, må logge ind med den, også selv om det ellers er slået fra. Slutter: {moment}.',
    ],
  },
  cs: {
    subject: 'Přihlašování heslem je otevřeno: {workspace}',
    says: [
      'Každý účet v {workspace}, který má heslo, se jím může přihlásit, i když je to jinak vypnuto. Konec: {moment}.',
    ],
  },
  ja: {
    subject: 'パスワードでのサインインが可能になりました: {workspace}',
    says: [
      '{moment} まで、{workspace} のパスワードを持つすべてのアカウントは、通常は無効になっている場合でも、パスワードでサインインできます。',
    ],
  },
}

export const closed: InEveryLanguage = {
  en: {
    subject: 'Password sign-in is closed: {workspace}',
    says: [
      'The password sign-in that had been opened for {workspace} was closed on {moment}. The usual sign-in rules apply again.',
    ],
  },
  de: {
    subject: 'Anmeldung mit Passwort ist geschlossen: {workspace}',
    says: [
      'Die für {workspace} geöffnete Anmeldung mit Passwort wurde geschlossen ({moment}). Es gelten wieder die üblichen Regeln.',
    ],
  },
  fr: {
    subject: 'Connexion par mot de passe fermée : {workspace}',
    says: [
      'La connexion par mot de passe ouverte pour {workspace} a été fermée ({moment}). Les règles habituelles s’appliquent de nouveau.',
    ],
  },
  es: {
    subject: 'Inicio de sesión con contraseña cerrado: {workspace}',
    says: [
      'El inicio de sesión con contraseña abierto para {workspace} se ha cerrado ({moment}). Vuelven a regir las reglas habituales.',
    ],
  },
  it: {
    subject: 'Accesso con password chiuso: {workspace}',
    says: [
      'L’accesso con password aperto per {workspace} è stato chiuso ({moment}). Valgono di nuovo le regole consuete.',
    ],
  },
  nl: {
    subject: 'Aanmelden met wachtwoord is gesloten: {workspace}',
    says: [
      'Het voor {workspace} geopende aanmelden met wachtwoord is gesloten ({moment}). De gewone regels gelden weer.',
    ],
  },
  pt: {
    subject: 'Acesso com senha fechado: {workspace}',
    says: ['O acesso com senha aberto para {workspace} foi fechado ({moment}). As regras habituais voltam a valer.'],
  },
  pl: {
    subject: 'Logowanie hasłem zostało zamknięte: {workspace}',
    says: ['Logowanie hasłem otwarte dla {workspace} zostało zamknięte ({moment}). Znów obowiązują zwykłe zasady.'],
  },
  sv: {
    subject: 'Inloggning med lösenord är stängd: {workspace}',
    says: [
      'Inloggningen med lösenord som öppnats för {workspace} har stängts ({moment}). De vanliga reglerna gäller igen.',
    ],
  },
  da: {
    subject: 'Login med adgangskode er lukket: {workspace}',
    says: [
      'Det login med adgangskode, der var åbnet for {workspace}, er blevet lukket ({moment}). De sædvanlige regler gælder igen.',
    ],
  },
  cs: {
    subject: 'Přihlašování heslem je uzavřeno: {workspace}',
    says: ['Přihlašování heslem otevřené pro {workspace} bylo uzavřeno ({moment}). Opět platí obvyklá pravidla.'],
  },
  ja: {
    subject: 'パスワードでのサインインは締め切られました: {workspace}',
    says: [
      '{workspace} で許可されていたパスワードでのサインインは締め切られました({moment})。通常の規則が再び適用されます。',
    ],
  },
}

export const ended: InEveryLanguage = {
  en: {
    subject: 'Password sign-in has ended: {workspace}',
    says: [
      'The password sign-in that had been opened for {workspace} ended on {moment}. The usual sign-in rules apply again.',
    ],
  },
  de: {
    subject: 'Anmeldung mit Passwort ist beendet: {workspace}',
    says: [
      'Die für {workspace} geöffnete Anmeldung mit Passwort ist abgelaufen ({moment}). Es gelten wieder die üblichen Regeln.',
    ],
  },
  fr: {
    subject: 'Connexion par mot de passe terminée : {workspace}',
    says: [
      'La connexion par mot de passe ouverte pour {workspace} a pris fin ({moment}). Les règles habituelles s’appliquent de nouveau.',
    ],
  },
  es: {
    subject: 'Inicio de sesión con contraseña finalizado: {workspace}',
    says: [
      'El inicio de sesión con contraseña abierto para {workspace} ha terminado ({moment}). Vuelven a regir las reglas habituales.',
    ],
  },
  it: {
    subject: 'Accesso con password terminato: {workspace}',
    says: [
      'L’accesso con password aperto per {workspace} è terminato ({moment}). Valgono di nuovo le regole consuete.',
    ],
  },
  nl: {
    subject: 'Aanmelden met wachtwoord is afgelopen: {workspace}',
    says: [
      'Het voor {workspace} geopende aanmelden met wachtwoord is afgelopen ({moment}). De gewone regels gelden weer.',
    ],
  },
  pt: {
    subject: 'Acesso com senha encerrado: {workspace}',
    says: ['O acesso com senha aberto para {workspace} terminou ({moment}). As regras habituais voltam a valer.'],
  },
  pl: {
    subject: 'Logowanie hasłem zakończyło się: {workspace}',
    says: ['Logowanie hasłem otwarte dla {workspace} zakończyło się ({moment}). Znów obowiązują zwykłe zasady.'],
  },
  sv: {
    subject: 'Inloggning med lösenord har upphört: {workspace}',
    says: [
      'Inloggningen med lösenord som öppnats för {workspace} har upphört ({moment}). De vanliga reglerna gäller igen.',
    ],
  },
  da: {
    subject: 'Login med adgangskode er ophørt: {workspace}',
    says: [
      'Det login med adgangskode, der var åbnet for {workspace}, er ophørt ({moment}). De sædvanlige regler gælder igen.',
    ],
  },
  cs: {
    subject: 'Přihlašování heslem skončilo: {workspace}',
    says: ['Přihlašování heslem otevřené pro {workspace} skončilo ({moment}). Opět platí obvyklá pravidla.'],
  },
  ja: {
    subject: 'パスワードでのサインインは終了しました: {workspace}',
    says: [
      '{workspace} で許可されていたパスワードでのサインインは終了しました({moment})。通常の規則が再び適用されます。',
    ],
  },
}
