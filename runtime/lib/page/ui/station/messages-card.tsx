import { figure, t } from '../i18n.js'
import { Card, FigureList, Tone, type ToneName } from '../parts/card.js'
import { DataTable } from '../parts/data-table.js'
import { type Json, numberAt } from './document.js'
import { goesOut, kindOf, type MessageState, messagesOf, msmOf, rateOf, stationIdOf } from './rtcm.js'

const tones: Readonly<Record<MessageState, ToneName>> = { good: 'good', late: 'warning', stopped: 'broken' }

/** Every RTCM message, how often it should come and how often it does. */
export function MessagesCard({ document }: { document: Json }) {
  const rows = messagesOf(document)
  const late = rows.filter(({ state }) => state !== 'good').length
  return (
    <Card title={t('rtcm.messages')}>
      <p>
        <Tone tone={rows.length === 0 ? 'idle' : late > 0 ? 'warning' : 'good'}>
          {rows.length === 0 ? t('rtcm.none') : late > 0 ? t('rtcm.someLate', { count: late }) : t('rtcm.allGood')}
        </Tone>
      </p>
      {!goesOut(document) && <p>{t('rtcm.beforeGate')}</p>}
      {rows.length > 0 && (
        <DataTable
          label={t('rtcm.messages')}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { name: t('rtcm.id'), isHead: true, cell: ({ id }) => id },
            { name: t('rtcm.what'), cell: ({ id }) => msmOf(id) || t(`rtcm.kind.${kindOf(id)}`) },
            {
              name: t('rtcm.state'),
              cell: ({ state }) => <Tone tone={tones[state]}>{t(`rtcm.state.${state}`)}</Tone>,
            },
            { name: t('rtcm.nominal'), isNumber: true, cell: ({ nominal }) => figure(nominal, 1, 's') },
            { name: t('rtcm.interval'), isNumber: true, cell: ({ interval }) => figure(interval || undefined, 2, 's') },
            { name: t('rtcm.age'), isNumber: true, cell: ({ since }) => figure(since, 1, 's') },
            { name: t('rtcm.size'), isNumber: true, cell: ({ bytes }) => figure(bytes, 0, 'B') },
          ]}
        />
      )}
      <FigureList
        rows={[
          [t('rtcm.rateNow'), figure(rateOf(rows), 0, 'B/s')],
          [t('rtcm.received'), figure(numberAt(document, 'gnss.rtcm.stat.recvd'), 0)],
          [t('rtcm.corrupt'), figure(numberAt(document, 'gnss.rtcm.stat.corrupt'), 0)],
          [t('rtcm.station'), stationIdOf(document)],
        ]}
      />
    </Card>
  )
}
