/** The texts of the panel and of the page, in both languages of the station. */
import { type Fill, setTexts, textOf } from 'rtk-base/page/ui'

const en = {
  'meter.title': 'Epoch meter',
  'meter.connecting': 'Connecting to the station …',
  'meter.station': 'To the station’s own page',
  'meter.epochs': 'Epochs sent',
  'meter.poor': 'Of them with too few satellites',
  'meter.frames': 'Messages',
  'meter.bytes': 'Bytes',
  'meter.bars': 'Satellites of the last {count} epochs, now {now}',
  'meter.least': 'Fewest satellites of a good epoch',
  'meter.leastHelp': 'A change counts the poor epochs anew.',
  'meter.leastWrong': 'A whole number from 0 to 200.',
  'meter.save': 'Save',
  'meter.saved': 'Saved.',
  'meter.reset': 'Start counting anew',
  'meter.resetText': 'All counts become 0.',
}

const de: typeof en = {
  'meter.title': 'Epochenzähler',
  'meter.connecting': 'Verbindung zur Station wird aufgebaut …',
  'meter.station': 'Zur Seite der Station',
  'meter.epochs': 'Gesendete Epochen',
  'meter.poor': 'Davon mit zu wenigen Satelliten',
  'meter.frames': 'Nachrichten',
  'meter.bytes': 'Bytes',
  'meter.bars': 'Satelliten der letzten {count} Epochen, jetzt {now}',
  'meter.least': 'Wenigste Satelliten einer guten Epoche',
  'meter.leastHelp': 'Nach einer Änderung zählen die schlechten Epochen von vorn.',
  'meter.leastWrong': 'Eine ganze Zahl von 0 bis 200.',
  'meter.save': 'Speichern',
  'meter.saved': 'Gespeichert.',
  'meter.reset': 'Neu zählen',
  'meter.resetText': 'Alle Zähler werden 0.',
}

setTexts(en, async () => de)

type Key = keyof typeof en extends `meter.${infer Name}` ? Name : never
export const t = (key: Key, values?: Fill): string => textOf(`meter.${key}`, values)
