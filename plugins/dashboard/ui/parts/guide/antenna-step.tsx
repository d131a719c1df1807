import { figure, t, word } from '../../i18n/index.js'
import { meanCno } from '../../model/guide.js'
import { type Json, numberAt, textAt } from '../../station/document.js'
import { satellites } from '../../station/live.js'
import { FigureList } from '../figure-list.js'

/** What the receiver says of its antenna. */
export function AntennaStep({ document }: { document: Json }) {
  const status = textAt(document, 'gnss.state.antenna.status')
  const used = numberAt(document, 'gnss.state.satuse')
  return (
    <>
      <p>{t('guide.antenna')}</p>
      <FigureList
        rows={[
          [t('sky.antenna'), status && word('sky.antennaState', status)],
          [t('chain.receiver'), textAt(document, 'gnss.receiver.model')],
          [t('status.satellites'), used !== undefined && `${used} / ${numberAt(document, 'gnss.state.satvis') ?? 0}`],
          [t('guide.cno'), figure(meanCno(satellites.value), 1, 'dB-Hz')],
          [t('status.fix'), word('fact', textAt(document, 'gnss.state.gps_fix'))],
        ]}
      />
      <a href="#/sky">{t('page.sky')}</a>
    </>
  )
}
