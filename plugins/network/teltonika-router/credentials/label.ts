/**
 * The text of a router's QR label: `WIFI:` and `KEY:value;` pairs, in print order. Values escape `\ ; , : "` with
 * a backslash, as Wi-Fi QR codes do.
 */
const names = {
  S: 'ssid',
  P: 'wifiPswd',
  SN: 'serial',
  I: 'imei',
  /** Upper case; in `RouterLabel` with colons. */
  M: 'macaddr',
  U: 'user',
  PW: 'pswd',
  /** The production batch. */
  B: 'batch',
} as const
export type RouterLabel = Record<(typeof names)[keyof typeof names], string>
const longest = 1_024

/** A field begins at the text's begin or behind a `;`, with one of the known keys: a value may hold an unescaped `;`. */
const fieldBegin = /(?:^|;)(T|SN|S|PW|P|I|M|U|B|H):/g
const escaped = /\\([\\;,:"])/g

/** Undefined if not a valid label. */
export function parseLabel(text: string): RouterLabel | undefined {
  const trimmed = text.trim()
  if (!/^WIFI:/i.test(trimmed) || trimmed.length > longest) return undefined
  // Escaped characters are taken out of the way first, as private-use characters, so that none of them parts a field.
  const hidden = trimmed.slice('WIFI:'.length).replace(escaped, (_all, one: string) => hide(one))
  const begins = [...hidden.matchAll(fieldBegin)]
  const label = Object.fromEntries(Object.values(names).map((name) => [name, ''])) as RouterLabel
  for (const [index, begin] of begins.entries()) {
    const end = begins[index + 1]?.index ?? hidden.length
    const raw = hidden.slice(begin.index + begin[0].length, end)
    const value = shown(index === begins.length - 1 ? raw.replace(/;{1,2}$/, '') : raw)
    const name = (names as Record<string, keyof RouterLabel>)[String(begin[1])]
    if (name !== undefined) label[name] = value
  }
  label.macaddr = label.macaddr
    .replace(/[^0-9A-Fa-f]/g, '')
    .toUpperCase()
    .replace(/..(?=.)/g, '$&:')
  return label.pswd === '' && label.serial === '' && label.macaddr === '' ? undefined : label
}

/** The text of a label, in print order; unknown fields are omitted. */
export function labelText(label: RouterLabel): string {
  const wifi = label.ssid === '' ? '' : label.wifiPswd === '' ? 'nopass' : 'WPA'
  const printed = { ...label, macaddr: label.macaddr.replaceAll(':', '') }
  const fields = [['T', wifi], ...Object.entries(names).map(([key, name]) => [key, printed[name]])] as [
    string,
    string,
  ][]
  const written = fields.filter(([, value]) => value !== '').map(([key, value]) => `${key}:${withEscapes(value)};`)
  return `WIFI:${written.join('')}`
}

const special = '\\;,:"'
const privateUse = 0xe000

const hide = (one: string) => String.fromCharCode(privateUse + special.indexOf(one))
const shown = (text: string) =>
  text.replace(/[\ue000-\ue004]/g, (one) => special[one.charCodeAt(0) - privateUse] as string)
const withEscapes = (value: string) => value.replace(/[\\;,:"]/g, '\\$&')
