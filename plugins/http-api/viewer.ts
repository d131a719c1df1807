/** Fields of the document that carry a password: `wap.pwd`, `router.wap.pswd`, `modem.cfg.pswd` and those of other plugins. */
const passwordName = /(^|[-_])(pwd|pswd|password)$/i

const blank = (text: string) =>
  JSON.stringify(JSON.parse(text), (name, value: unknown) => (passwordName.test(name) ? '' : value))

const keptTexts = 16

/** The document's text with empty passwords: made once for each text that the station gives, by mask. */
export function withoutPasswords(): (mask: number, document: string) => string {
  const kept = new Map<number, { document: string; blanked: string }>()
  return (mask, document) => {
    const known = kept.get(mask)
    if (known?.document === document) return known.blanked
    const blanked = blank(document)
    if (kept.size >= keptTexts) kept.clear()
    kept.set(mask, { document, blanked })
    return blanked
  }
}
