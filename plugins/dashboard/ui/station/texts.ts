/** Loads the plugins' texts in the language of the reader, again after a plugin was replaced. */
import { effect } from '@preact/signals'
import { language } from '../i18n/index.js'
import { pluginTexts } from '../i18n/plugins.js'
import { api } from './api.js'
import { textsVersion } from './live.js'

effect(() => {
  const wanted = language.value
  if (textsVersion.value === undefined || wanted === 'en') {
    pluginTexts.value = {}
    return
  }
  api.get<Record<string, string>>(`/texts/${wanted}`).then(
    (texts) => {
      if (language.value === wanted) pluginTexts.value = texts
    },
    // No plugin has this language.
    () => {},
  )
})
