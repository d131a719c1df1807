import { Card, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../../runtime/lib/page/ui/parts/data-table.js'
import { type Json, listAt, numberAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { toneOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { figure, t, word } from '../../i18n/index.js'

interface TcpPush {
  host: string
  port: number
  state: string
  text: string
  dropped: number
}

export function Tcp({ document }: { document: Json }) {
  const pushes = listAt<TcpPush>(document, 'rtcm_tcp.push')
  const port = numberAt(document, 'rtcm_tcp.port') ?? 0
  if (port === 0 && pushes.length === 0) return null
  return (
    <Card title={t('links.tcp')}>
      {port > 0 && <p>{t('links.tcpPort', { port, count: numberAt(document, 'rtcm_tcp.connected') ?? 0 })}</p>}
      {pushes.length > 0 && (
        <DataTable
          label={t('links.tcp')}
          rows={pushes}
          keyOf={({ host, port: of }) => `${host}:${of}`}
          columns={[
            { name: t('links.address'), isHead: true, cell: (push) => `${push.host}:${push.port}` },
            {
              name: t('links.state'),
              cell: ({ state, text }) => (
                <>
                  <Tone tone={toneOf(state)}>{word('links.push', state)}</Tone>
                  {text && <div>{text}</div>}
                </>
              ),
            },
            { name: t('links.dropped'), isNumber: true, cell: ({ dropped }) => figure(dropped, 0) },
          ]}
        />
      )}
    </Card>
  )
}
