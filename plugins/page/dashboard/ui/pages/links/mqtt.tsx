import { FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { type Value, ValueCard } from '../../../../../../runtime/lib/page/ui/parts/values.js'
import { at, type Json, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { certificateOf, toneOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { moment, type TextKey, t, word } from '../../i18n/index.js'
import { said } from '../../i18n/plugin-texts.js'
import { isMqttWanted } from '../../model/outputs.js'

const mqtt: readonly Value<TextKey>[] = [
  [
    'links.broker',
    'mqtt',
    (_, document) => `${textAt(document, 'mqtt.host') || '–'}:${numberAt(document, 'mqtt.port') ?? ''}`,
  ],
  ['links.interface', 'mqtt.via'],
  ['links.topic', 'mqtt.rtcm.topic'],
  [
    'links.published',
    'mqtt.rtcm',
    (_, document) => t(at(document, 'mqtt.rtcm.active') === true ? 'links.yes' : 'links.no'),
  ],
  ['links.every', 'mqtt.rtcm.rate', ['s']],
  ['links.sessions', 'mqtt.stat.sessions'],
]

export function Mqtt({ document }: { document: Json }) {
  // Without a broker there is nothing to be seen: the list of outputs says that it is not set up.
  if (!isMqttWanted(document)) return null
  const link = textAt(document, 'mqtt.state.link')
  const certificate = certificateOf(document)
  return (
    <ValueCard
      document={document}
      block="mqtt"
      title="MQTT"
      state={[toneOf(link), word('links.mqtt', link)]}
      trouble={said(textAt(document, 'mqtt.state.error.text'))}
      of={mqtt}
    >
      {certificate ? (
        <>
          <h3>{t('links.certificate')}</h3>
          <p>
            <Tone tone={certificate.tone}>
              {certificate.days === undefined
                ? moment(certificate.until)
                : certificate.days < 0
                  ? t('links.expired', { time: moment(certificate.until) })
                  : t('links.expires', { time: moment(certificate.until), days: certificate.days })}
            </Tone>
          </p>
          <FigureList
            rows={[
              [t('links.validFrom'), moment(certificate.from)],
              [t('links.serial'), certificate.serial],
            ]}
          />
        </>
      ) : (
        <p class="quiet">{t('links.noCertificate')}</p>
      )}
    </ValueCard>
  )
}
