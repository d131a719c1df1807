import type { english } from './en.js'

/** Cases by a value that only the English text has. */
type EnglishOnly = `${string}._${string}`

/** Read by the pages. */
export const german: Readonly<Record<Exclude<keyof typeof english, EnglishOnly> | `said.${string}`, string>> = {
  'error.change-not-applied': 'Eine Änderung ist gespeichert, wirkt aber noch nicht: {reason}',
  'error.change-not-stored':
    'Die Vorgabe für {names} konnte nicht gespeichert werden ({reason}): Die alten Werte gelten weiter',
  'error.change-not-stored.advice': 'Sobald die Platte wieder schreibbar ist, wird es nachgeholt',
  'error.change-not-undone': 'Eine Änderung ließ sich nicht ganz zurücknehmen: {reason}',
  'error.change-rolled-back':
    'Nach einer Änderung war die Station {trial_s} s lang nicht erreichbar: Die alten Werte gelten wieder',
  'error.change-rolled-back.advice': 'Erneut versuchen und auf der Seite rechtzeitig „Behalten“ wählen',
  'error.change-rolled-back.tried':
    '„{tried}“ hat nicht funktioniert: Die Station war darüber {trial_s} s lang nicht erreichbar, die alten Werte gelten wieder',
  'error.change-undone': 'Eine Änderung wurde zurückgenommen: {reason}',
  'error.data-in-memory': 'Der Datenordner ist nicht nutzbar: Einstellungen gehen beim nächsten Start verloren',
  'error.data-in-memory.advice': 'Den Datenordner der Station und seine Rechte prüfen',
  'error.event-loop-blocked': 'Der Dienst war {blocked_s} s lang blockiert: Korrekturen und Antworten kamen zu spät',
  'error.event-loop-blocked.plugin':
    'Das Plugin {plugin} hat die Station {blocked_s} s lang blockiert: Korrekturen und Antworten kamen zu spät',
  'error.http-certificate': 'Die Seite ist nicht erreichbar: Das Zertifikat (http.tls) kann nicht gelesen werden',
  'error.http-certificate.advice': 'Der Grund steht im Log; es wird alle paar Sekunden wieder versucht',
  'error.http-certificate-renewal': 'Das Zertifikat der Seite läuft am {until} ab: {file} erneuern',
  'error.http-certificate-renewal.expired':
    'Das Zertifikat der Seite ist am {until} abgelaufen, Browser weisen die Seite ab: {file} erneuern',
  'error.http-certificate-renewal.reason': 'Das Zertifikat der Seite ist nicht lesbar: {reason}',
  'error.http-certificate-renewal.advice.reason': 'Das bisherige bleibt in Gebrauch',
  'error.http-listen': 'Die Seite ist nicht erreichbar: Dieses Gerät hat die Adresse {host} (noch) nicht',
  'error.image-damaged': 'Dateien der Software sind beschädigt ({files}): das Abbild erneut installieren',
  'error.listen': 'Ein Port lässt sich nicht öffnen: {reason}',
  'error.listen.address': '{address} lässt sich nicht öffnen: {reason}',
  'error.listen.advice': 'Das Zertifikat davor gilt weiter',
  'error.listen.advice.retry_s': 'Alle {retry_s} s wird es erneut versucht',
  'error.listen.advice.setting': 'Einen anderen Port einstellen ({setting}). Alle {retry_s} s wird es erneut versucht',
  'error.memory-exhausted': 'Der Speicher reichte nicht: Der Dienst wurde neu gestartet',
  'error.plugin-failed': 'Das Plugin {plugin} läuft nicht: {reason}',
  'error.plugin-failed.advice':
    'Die Station versucht es in {retry_s} s erneut, oder sofort mit „rtk-base plugins reload {plugin}“',
  'error.plugin-update': 'Ein Update des Plugins {plugin} hat sich zurückgenommen; die Version davor läuft wieder',
  'error.plugin-updates-lost':
    'Die Liste der aktualisierten Plugins ist nicht nutzbar ({reason}): Die mitgelieferten laufen',
  'error.plugin-updates-lost.advice': 'Die Updates der Plugins erneut senden',
  'error.receiver-simulator': 'Der simulierte Empfänger läuft nicht',
  'error.receiver-simulator.advice':
    'Das Plugin eines simulierten Empfängers in die Variante aufnehmen, oder den Anschluss des Empfängers eintragen ({setting})',
  'error.settings-missing': 'Die Einstellungen mit dem Passwort fehlen: Die zuletzt benutzten gelten',
  'error.settings-missing.advice': 'Die fehlende Datei wieder anlegen und den Dienst neu starten',
  'error.settings-refused':
    'Die Einstellungen des Dienstes wurden dreimal abgelehnt: Die zuletzt benutzten gelten, sonst die Vorgaben',
  'error.settings-refused.advice': '/etc/default/rtk-base oder die Variante berichtigen und den Dienst neu starten',
  'error.slot-damaged': 'Eine Version der Software ist beschädigt und wurde nicht gestartet: Eine andere läuft',
  'error.slot-damaged.advice': 'Das Update erneut senden, oder das Paket erneut installieren',
  'error.slot-state-lost': 'Unbekannt ist, welche Version der Software zuletzt gut lief',
  'error.slot-state-lost.advice': 'Das Update erneut senden',
  'error.store-changed':
    'Ein anderes Programm hat gespeicherte Einstellungen gelöscht oder geändert: Sie werden neu geschrieben',
  'error.store-damaged':
    'Gespeicherte Einstellungen waren beschädigt: Die Kopie gilt, die letzten Änderungen können fehlen. Die Einstellungen prüfen',
  'error.store-newer':
    'Die gespeicherten Einstellungen sind von einer neueren Version und nicht lesbar: Ältere oder die Vorgaben gelten. Position, Passwörter und Verbindungen prüfen',
  'error.store-reset':
    'Die gespeicherten Einstellungen sind verloren: Die Vorgaben gelten. Die Einstellungen neu setzen',
  'error.store-unreadable': 'Die gespeicherten Einstellungen sind nicht lesbar: Die Vorgaben gelten',
  'error.store-unreadable.advice': 'Die Platte der Station prüfen. Bis dahin wird jede Änderung abgelehnt',
  'error.store-unwritable': 'Einstellungen lassen sich nicht speichern',
  'error.store-unwritable.advice': 'Platz schaffen und die Platte prüfen. Bis dahin wird jede Änderung abgelehnt',
  'error.time-contradiction': 'Die Zeit des Empfängers weicht mehr als eine Stunde ab und wird nicht benutzt',
  'error.time-contradiction.advice': 'Prüfen, ob der Empfänger getäuscht wird (Spoofing)',
  'said.another program or plugin uses it': 'ein anderes Programm oder Plugin benutzt ihn',
  'said.this machine has no such address (yet)': 'dieses Gerät hat diese Adresse (noch) nicht',
}
