import { useCallback } from 'preact/hooks'
import { figure } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { fleetApi } from '../fleet/api.js'
import { t } from '../i18n/index.js'

const days = 3
const day_ms = 86_400_000

/** How many epochs of this base reached rovers, by day (UTC). */
export function DeliveryCard({ serial }: { serial: string }) {
  const load = useCallback(() => {
    const wanted = Array.from({ length: days }, (_, back) =>
      new Date(Date.now() - back * day_ms).toISOString().slice(0, 10),
    )
    return Promise.all(
      wanted.map(async (day) => {
        const { bases } = await fleetApi.delivery(day, serial)
        return { day, base: bases[0] }
      }),
    )
  }, [serial])
  const found = useLoaded(load)
  return (
    <Card title={t('delivery.title')}>
      <Waiting of={found}>
        {(rows) => (
          <DataTable
            label={t('delivery.title')}
            rows={rows}
            keyOf={({ day }) => day}
            columns={[
              { name: t('delivery.day'), isHead: true, cell: ({ day }) => day },
              ...(['expected', 'published', 'relayed', 'acknowledged'] as const).map((step) => ({
                name: t(`delivery.${step}`),
                isNumber: true,
                cell: ({ base }: (typeof rows)[number]) => figure(base?.[step], 0),
              })),
            ]}
          />
        )}
      </Waiting>
    </Card>
  )
}
