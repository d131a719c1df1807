/** Loads the plugins' texts in the language of the reader, again after a plugin was replaced. */
import { effect } from '@preact/signals'
import { language } from '../i18n/index.js'
import { speaker } from '../i18n/plugins.js'
import { api } from './api.js'
import { textsVersion } from './live.js'

effect(() => {
  const wanted = language.value
  if (textsVersion.value === undefined || wanted === 'en') {
    speaker.value = undefined
    return
  }
  Promise.all([api.get<Record<string, string>>(`/texts/${wanted}`), import('../i18n/speaker.js')]).then(
    ([texts, { speakerOf }]) => {
      if (language.value === wanted) speaker.value = speakerOf(texts)
    },
    // No plugin has this language.
    () => {},
  )
})
