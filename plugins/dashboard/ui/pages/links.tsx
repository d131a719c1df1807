import { t } from '../i18n/index.js'
import { document$ } from '../station/live.js'
import { ForeignBases } from './links/foreign-bases.js'
import { Incoming } from './links/incoming.js'
import { Mqtt } from './links/mqtt.js'
import { Outputs } from './links/outputs.js'
import { Pushes, Tcp } from './links/pushes.js'
import { Rovers, Takers } from './links/takers.js'

/** Who gets the corrections, by what way, and what is done where they do not arrive. */
export function LinksPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      <Takers document={document} />
      <Rovers document={document} />
      <ForeignBases document={document} />
      <Outputs document={document} />
      <Pushes document={document} />
      <Tcp document={document} />
      <Mqtt document={document} />
      <Incoming document={document} />
    </>
  )
}
