import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { roversOf } from '../../../../../runtime/lib/page/ui/station/links.js'
import { t } from '../i18n/index.js'
import { MapCard } from '../parts/map-card.js'
import { MapTiles } from '../parts/map-tiles.js'
import { document$ } from '../station/live.js'
import { Clients, Rovers } from './links/clients.js'
import { ForeignBases } from './links/foreign-bases.js'
import { RoverLogins } from './links/rover-logins.js'

/** Rovers that get the corrections, their positions and their logins. */
export function RoversPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      {roversOf(document).length === 0 && (
        <Card title={t('links.clients')}>
          <Empty drawing="rover">{t('links.nobody')}</Empty>
        </Card>
      )}
      {roversOf(document).length > 0 && <Clients document={document} />}
      <RoverLogins document={document} />
      <Rovers document={document} />
      <MapCard />
      <MapTiles />
      <ForeignBases document={document} />
    </>
  )
}
