import { Card, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../../runtime/lib/page/ui/parts/data-table.js'
import { type Json, listAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import type { ForeignBase } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { duration, figure, t } from '../../i18n/index.js'

/** Their streams are relayed unverified. */
export function ForeignBases({ document }: { document: Json }) {
  const bases = listAt<ForeignBase>(document, 'ntrip.caster.bases')
  if (bases.length === 0) return null
  return (
    <Card title={t('links.bases')}>
      <DataTable
        label={t('links.bases')}
        rows={bases}
        keyOf={({ mount }) => mount}
        columns={[
          { name: t('links.mount'), isHead: true, cell: ({ mount }) => mount },
          {
            name: t('links.state'),
            cell: ({ connected }) => (
              <Tone tone={connected ? 'good' : 'broken'}>{t(connected ? 'links.state.up' : 'links.state.down')}</Tone>
            ),
          },
          { name: t('links.address'), cell: ({ ip, agent }) => [ip, agent].filter(Boolean).join(' · ') || '–' },
          { name: t('links.silent'), cell: ({ silent, connected }) => (connected ? duration(silent) : '–') },
          { name: t('links.connected'), isNumber: true, cell: ({ rovers }) => figure(rovers, 0) },
        ]}
      />
    </Card>
  )
}
