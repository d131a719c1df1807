import { readTexts, textFiles } from '../../runtime/loader/texts.js'
import { StandingErrors } from '../../runtime/platform/standing-errors.js'
import type { PluginContext } from '../../runtime/plugin.js'
import { pluginFolders } from './shipped.js'

/** The English texts of a shipped plugin. */
export function englishOf(plugin: string): Readonly<Record<string, string>> {
  const given = textFiles(pluginFolders().get(plugin) ?? '').map(({ language, content }) => [language, content])
  const { files } = readTexts(Object.fromEntries(given), (file, reason) => {
    throw new Error(`${file}: ${reason}`)
  })
  return files.get('en') ?? {}
}

/**
 * `ctx.errors` of a shipped plugin, for a part of it that is tested without a station.
 * @param heard is told of each call: the text of the entry, '' for none
 */
export function errorsOf(
  plugin: string,
  heard: (text: string, code: string) => unknown = () => {},
): PluginContext['errors'] {
  const english = englishOf(plugin)
  const standing = new StandingErrors({
    texts: () => english,
    utc_s: () => 0,
    raised() {},
    textMissing(code) {
      throw new Error(`${plugin} has no text for ${code}`)
    },
    changed() {},
  })
  return {
    while(code, condition, how) {
      const error = standing.while(code, condition, how)
      heard(error?.text ?? '', code)
      return error
    },
  }
}

/** Into a map: code → text. */
export const into = (map: Map<string, string>) => (text: string, code: string) =>
  void (text === '' ? map.delete(code) : map.set(code, text))
