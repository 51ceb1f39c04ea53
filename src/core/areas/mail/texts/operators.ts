/** Mails to the operators: the register, the installation's settings, its backup targets. Spec: decisions 7, Probation. */
import type { InEveryLanguage } from './language.ts'

export const operatorAdded: InEveryLanguage = {
  en: {
    subject: 'Operator added: {account}',
    says: ['{account} of the workspace {slug} was added to the operator register on {moment}, by {by}.'],
  },
  de: {
    subject: 'Betreiberkonto eingetragen: {account}',
    says: ['{account} aus dem Arbeitsbereich {slug} wurde in das Betreiberverzeichnis eingetragen ({moment}, {by}).'],
  },
  fr: {
    subject: 'Opérateur ajouté : {account}',
    says: ['{account}, de l’espace de travail {slug}, a été inscrit au registre des opérateurs ({moment}, {by}).'],
  },
  es: {
    subject: 'Operador añadido: {account}',
    says: ['{account}, del espacio de trabajo {slug}, se ha inscrito en el registro de operadores ({moment}, {by}).'],
  },
  it: {
    subject: 'Operatore aggiunto: {account}',
    says: ['{account}, dello spazio di lavoro {slug}, è stato iscritto nel registro degli operatori ({moment}, {by}).'],
  },
  nl: {
    subject: 'Beheerder toegevoegd: {account}',
    says: ['{account} van de werkruimte {slug} is in het beheerdersregister ingeschreven ({moment}, {by}).'],
  },
  pt: {
    subject: 'Operador adicionado: {account}',
    says: ['{account}, do espaço de trabalho {slug}, foi inscrito no registro de operadores ({moment}, {by}).'],
  },
  pl: {
    subject: 'Dodano operatora: {account}',
    says: ['Konto {account} z przestrzeni roboczej {slug} wpisano do rejestru operatorów ({moment}, {by}).'],
  },
  sv: {
    subject: 'Operatör tillagd: {account}',
    says: ['{account} i arbetsytan {slug} har förts in i operatörsregistret ({moment}, {by}).'],
  },
  da: {
    subject: 'Operatør tilføjet: {account}',
    says: ['{account} i arbejdsområdet {slug} er optaget i operatørregistret ({moment}, {by}).'],
  },
  cs: {
    subject: 'Přidán operátor: {account}',
    says: ['Účet {account} z pracovního prostoru {slug} byl zapsán do rejstříku operátorů ({moment}, {by}).'],
  },
  ja: {
    subject: '運営者が追加されました: {account}',
    says: ['ワークスペース {slug} の {account} が運営者名簿に登録されました({moment}、{by})。'],
  },
}

export const operatorRemoved: InEveryLanguage = {
  en: {
    subject: 'Operator removed: {account}',
    says: ['{account} of the workspace {slug} was removed from the operator register on {moment}, by {by}.'],
  },
  de: {
    subject: 'Betreiberkonto entfernt: {account}',
    says: ['{account} aus dem Arbeitsbereich {slug} wurde aus dem Betreiberverzeichnis entfernt ({moment}, {by}).'],
  },
  fr: {
    subject: 'Opérateur retiré : {account}',
    says: ['{account}, de l’espace de travail {slug}, a été retiré du registre des opérateurs ({moment}, {by}).'],
  },
  es: {
    subject: 'Operador eliminado: {account}',
    says: ['{account}, del espacio de trabajo {slug}, se ha quitado del registro de operadores ({moment}, {by}).'],
  },
  it: {
    subject: 'Operatore rimosso: {account}',
    says: ['{account}, dello spazio di lavoro {slug}, è stato tolto dal registro degli operatori ({moment}, {by}).'],
  },
  nl: {
    subject: 'Beheerder verwijderd: {account}',
    says: ['{account} van de werkruimte {slug} is uit het beheerdersregister verwijderd ({moment}, {by}).'],
  },
  pt: {
    subject: 'Operador removido: {account}',
    says: ['{account}, do espaço de trabalho {slug}, foi retirado do registro de operadores ({moment}, {by}).'],
  },
  pl: {
    subject: 'Usunięto operatora: {account}',
    says: ['Konto {account} z przestrzeni roboczej {slug} usunięto z rejestru operatorów ({moment}, {by}).'],
  },
  sv: {
    subject: 'Operatör borttagen: {account}',
    says: ['{account} i arbetsytan {slug} har tagits bort ur operatörsregistret ({moment}, {by}).'],
  },
  da: {
    subject: 'Operatør fjernet: {account}',
    says: ['{account} i arbejdsområdet {slug} er fjernet fra operatørregistret ({moment}, {by}).'],
  },
  cs: {
    subject: 'Odebrán operátor: {account}',
    says: ['Účet {account} z pracovního prostoru {slug} byl odebrán z rejstříku operátorů ({moment}, {by}).'],
  },
  ja: {
    subject: '運営者が削除されました: {account}',
    says: ['ワークスペース {slug} の {account} が運営者名簿から削除されました({moment}、{by})。'],
  },
}

export const settingsReplaced: InEveryLanguage = {
  en: {
    subject: 'Installation settings changed',
    says: ['The settings of the installation were changed on {moment}, by {by}: {switches}.'],
  },
  de: {
    subject: 'Einstellungen der Installation geändert',
    says: ['Die Einstellungen der Installation wurden geändert ({moment}, {by}): {switches}.'],
  },
  fr: {
    subject: 'Réglages de l’installation modifiés',
    says: ['Les réglages de l’installation ont été modifiés ({moment}, {by}) : {switches}.'],
  },
  es: {
    subject: 'Ajustes de la instalación modificados',
    says: ['Se han modificado los ajustes de la instalación ({moment}, {by}): {switches}.'],
  },
  it: {
    subject: 'Impostazioni dell’installazione modificate',
    says: ['Le impostazioni dell’installazione sono state modificate ({moment}, {by}): {switches}.'],
  },
  nl: {
    subject: 'Instellingen van de installatie gewijzigd',
    says: ['De instellingen van de installatie zijn gewijzigd ({moment}, {by}): {switches}.'],
  },
  pt: {
    subject: 'Configurações da instalação alteradas',
    says: ['As configurações da instalação foram alteradas ({moment}, {by}): {switches}.'],
  },
  pl: {
    subject: 'Zmieniono ustawienia instalacji',
    says: ['Ustawienia instalacji zostały zmienione ({moment}, {by}): {switches}.'],
  },
  sv: {
    subject: 'Installationens inställningar ändrade',
    says: ['Installationens inställningar har ändrats ({moment}, {by}): {switches}.'],
  },
  da: {
    subject: 'Installationens indstillinger ændret',
    says: ['Installationens indstillinger er ændret ({moment}, {by}): {switches}.'],
  },
  cs: {
    subject: 'Nastavení instalace změněno',
    says: ['Nastavení instalace bylo změněno ({moment}, {by}): {switches}.'],
  },
  ja: {
    subject: 'インストールの設定が変更されました',
    says: ['インストールの設定が変更されました({moment}、{by}): {switches}。'],
  },
}

export const targetAdded: InEveryLanguage = {
  en: {
    subject: 'Backup target added',
    says: [
      'A backup target of the installation was added on {moment}, by {by}: {target}. It gets copies of the obligation ledger, and may get exports of workspaces.',
    ],
  },
  de: {
    subject: 'Sicherungsziel hinzugefügt',
    says: [
      'Ein Sicherungsziel der Installation wurde hinzugefügt ({moment}, {by}): {target}. Es erhält das Verpflichtungsbuch, und Exporte von Arbeitsbereichen können dorthin gehen.',
    ],
  },
  fr: {
    subject: 'Destination de sauvegarde ajoutée',
    says: [
      'Une destination de sauvegarde de l’installation a été ajoutée ({moment}, {by}) : {target}. Elle reçoit le registre des obligations, et des exports d’espaces de travail peuvent y aller.',
    ],
  },
  es: {
    subject: 'Destino de copia de seguridad añadido',
    says: [
      'Se ha añadido un destino de copia de seguridad de la instalación ({moment}, {by}): {target}. Recibe el libro de obligaciones, y pueden enviarse allí exportaciones de espacios de trabajo.',
    ],
  },
  it: {
    subject: 'Destinazione di backup aggiunta',
    says: [
      'È stata aggiunta una destinazione di backup dell’installazione ({moment}, {by}): {target}. Riceve il registro degli obblighi, e vi si possono inviare esportazioni di spazi di lavoro.',
    ],
  },
  nl: {
    subject: 'Back-updoel toegevoegd',
    says: [
      'Er is een back-updoel van de installatie toegevoegd ({moment}, {by}): {target}. Het krijgt het verplichtingenboek, en exports van werkruimten kunnen ernaartoe gaan.',
    ],
  },
  pt: {
    subject: 'Destino de backup adicionado',
    says: [
      'Um destino de backup da instalação foi adicionado ({moment}, {by}): {target}. Ele recebe o livro de obrigações, e exportações de espaços de trabalho podem ir para lá.',
    ],
  },
  pl: {
    subject: 'Dodano miejsce kopii zapasowych',
    says: [
      'Dodano miejsce kopii zapasowych instalacji ({moment}, {by}): {target}. Trafia tam księga zobowiązań i mogą tam trafiać eksporty przestrzeni roboczych.',
    ],
  },
  sv: {
    subject: 'Säkerhetskopieringsmål tillagt',
    says: [
      'Ett säkerhetskopieringsmål för installationen har lagts till ({moment}, {by}): {target}. Det får åtagandeboken, och exporter av arbetsytor kan gå dit.',
    ],
  },
  da: {
    subject: 'Backupmål tilføjet',
    says: [
      'Et backupmål for installationen er tilføjet ({moment}, {by}): {target}. Det får forpligtelsesbogen, og eksporter af arbejdsområder kan sendes dertil.',
    ],
  },
  cs: {
    subject: 'Přidán cíl záloh',
    says: [
      'Byl přidán cíl záloh instalace ({moment}, {by}): {target}. Dostává knihu závazků a mohou tam směřovat exporty pracovních prostorů.',
    ],
  },
  ja: {
    subject: 'バックアップ先が追加されました',
    says: [
      'インストールのバックアップ先が追加されました({moment}、{by}): {target}。ここには義務台帳が送られ、ワークスペースのエクスポートが送られることもあります。',
    ],
  },
}

export const targetRemoved: InEveryLanguage = {
  en: {
    subject: 'Backup target removed',
    says: ['A backup target of the installation was removed on {moment}, by {by}: {target}. Its archives stay.'],
  },
  de: {
    subject: 'Sicherungsziel entfernt',
    says: [
      'Ein Sicherungsziel der Installation wurde entfernt ({moment}, {by}): {target}. Die Archive dort bleiben liegen.',
    ],
  },
  fr: {
    subject: 'Destination de sauvegarde retirée',
    says: [
      'Une destination de sauvegarde de l’installation a été retirée ({moment}, {by}) : {target}. Les archives y restent.',
    ],
  },
  es: {
    subject: 'Destino de copia de seguridad eliminado',
    says: [
      'Se ha quitado un destino de copia de seguridad de la instalación ({moment}, {by}): {target}. Los archivos que hay en él se conservan.',
    ],
  },
  it: {
    subject: 'Destinazione di backup rimossa',
    says: [
      'È stata rimossa una destinazione di backup dell’installazione ({moment}, {by}): {target}. Gli archivi che contiene restano.',
    ],
  },
  nl: {
    subject: 'Back-updoel verwijderd',
    says: [
      'Er is een back-updoel van de installatie verwijderd ({moment}, {by}): {target}. De archieven blijven daar staan.',
    ],
  },
  pt: {
    subject: 'Destino de backup removido',
    says: [
      'Um destino de backup da instalação foi removido ({moment}, {by}): {target}. Os arquivos que estão nele permanecem.',
    ],
  },
  pl: {
    subject: 'Usunięto miejsce kopii zapasowych',
    says: ['Usunięto miejsce kopii zapasowych instalacji ({moment}, {by}): {target}. Archiwa w nim pozostają.'],
  },
  sv: {
    subject: 'Säkerhetskopieringsmål borttaget',
    says: [
      'Ett säkerhetskopieringsmål för installationen har tagits bort ({moment}, {by}): {target}. Arkiven där finns kvar.',
    ],
  },
  da: {
    subject: 'Backupmål fjernet',
    says: ['Et backupmål for installationen er fjernet ({moment}, {by}): {target}. Arkiverne dér bliver liggende.'],
  },
  cs: {
    subject: 'Odebrán cíl záloh',
    says: ['Byl odebrán cíl záloh instalace ({moment}, {by}): {target}. Archivy v něm zůstávají.'],
  },
  ja: {
    subject: 'バックアップ先が削除されました',
    says: ['インストールのバックアップ先が削除されました({moment}、{by}): {target}。そこにあるアーカイブは残ります。'],
  },
}
