/** Their value is an address, which the station takes letter by letter; every other value is form-decoded. */
const verbatim = new Set(['firmware', 'ota-upgrade'])

/** The query of `POST /system` for a command. Pure. */
export function commandQuery(name: string, value: string | undefined): string {
  if (value === undefined) return encodeURIComponent(name)
  return `${encodeURIComponent(name)}=${verbatim.has(name) ? value.trim() : encodeURIComponent(value)}`
}
