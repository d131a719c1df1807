import { Card, FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { at, type Json, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { certificateOf, toneOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { figure, moment, t, word } from '../../i18n/index.js'
import { said } from '../../i18n/plugin-texts.js'
import { isMqttWanted } from '../../model/outputs.js'

export function Mqtt({ document }: { document: Json }) {
  // Without a broker there is nothing to be seen: the list of outputs says that it is not set up.
  if (!isMqttWanted(document)) return null
  const link = textAt(document, 'mqtt.state.link')
  const certificate = certificateOf(document)
  const trouble = textAt(document, 'mqtt.state.error.text')
  return (
    <Card title="MQTT">
      <p class="large">
        <Tone tone={toneOf(link)}>{word('links.mqtt', link)}</Tone>
      </p>
      {trouble && <p class="trouble">{said(trouble)}</p>}
      <FigureList
        rows={[
          [t('links.broker'), `${textAt(document, 'mqtt.host') || '–'}:${numberAt(document, 'mqtt.port') ?? ''}`],
          [t('links.interface'), textAt(document, 'mqtt.via')],
          [t('links.topic'), textAt(document, 'mqtt.rtcm.topic')],
          [t('links.published'), t(at(document, 'mqtt.rtcm.active') === true ? 'links.yes' : 'links.no')],
          [t('links.every'), figure(numberAt(document, 'mqtt.rtcm.rate'), 0, 's')],
          [t('links.sessions'), figure(numberAt(document, 'mqtt.stat.sessions'), 0)],
        ]}
      />
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
    </Card>
  )
}
