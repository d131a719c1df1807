/** Loads the plugins' texts in the language of the reader, again after a plugin was replaced. */
import { effect } from '@preact/signals'
import { language, notation } from '../i18n/index.js'
import { speaker } from '../i18n/plugin-texts.js'
import { api } from './api.js'
import { textsVersion } from './live.js'

effect(() => {
  const wanted = language.value
  if (textsVersion.value === undefined || wanted === 'en') {
    speaker.value = undefined
    return
  }
  Promise.all([
    api.get<Record<string, string>>(`/texts/${wanted}`),
    import('../../../../../runtime/lib/page/ui/station/speaker.js'),
  ]).then(
    ([texts, { speakerOf }]) => {
      if (language.value === wanted) speaker.value = speakerOf(texts, notation)
    },
    // No plugin has this language.
    () => {},
  )
})
