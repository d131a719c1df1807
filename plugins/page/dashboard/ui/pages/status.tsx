import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Later } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import type { ChainLink } from '../../../../../runtime/lib/page/ui/station/chain.js'
import { Chain } from '../../../../../runtime/lib/page/ui/station/chain-card.js'
import { errorsOf, type Json } from '../../../../../runtime/lib/page/ui/station/document.js'
import { isNew } from '../../../../../runtime/lib/page/ui/station/set-up.js'
import { t } from '../i18n/index.js'
import { FaultList } from '../parts/faults.js'
import { document$, verdict } from '../station/live.js'

const pageOf: Record<ChainLink, string> = {
  antenna: 'sky',
  receiver: 'sky',
  reference: 'positions',
  gate: 'timeline',
  outputs: 'links',
  rovers: 'rovers',
}

const loadCards = async () => (await import('../parts/overview-cards.js')).OverviewCards

/** The first screen: the way from the antenna to the rovers, what is wrong, the sky, the rovers, the day. The verdict stands above. */
export function StatusPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      {isNew(document) && (
        <Card title={t('guide.new')}>
          <p>{t('guide.newText')}</p>
          <a class="button main" href="#/guide">
            {t('guide.begin')}
          </a>
        </Card>
      )}
      <Chain document={document} linkOf={(link) => `#/${pageOf[link]}`} />
      <Faults document={document} />
      <Later load={loadCards} />
    </>
  )
}

function Faults({ document }: { document: Json }) {
  // The reason of the verdict stands above already.
  const errors = errorsOf(document).filter(({ text }) => !text.startsWith(verdict.value?.why ?? text))
  if (errors.length === 0) return null
  return (
    <Card title={t('status.errors', { count: errors.length })}>
      <FaultList errors={errors} document={document} />
    </Card>
  )
}
