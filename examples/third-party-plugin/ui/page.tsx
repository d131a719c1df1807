/** The epoch meter as a page of its own. */
import { signal } from '@preact/signals'
import { at, Card, EventStream, type Json, openPage, Shell } from 'rtk-base/page/ui'
import 'rtk-base/page/ui/styles.css'
import { Meter } from './meter.js'
import { t } from './texts.js'

const document$ = signal<Json | undefined>(undefined)

const stream = new EventStream('/events?want=document', (source) => {
  source.addEventListener('document', ({ data }: MessageEvent<string>) => {
    stream.heard()
    document$.value = JSON.parse(data) as Json
  })
})

function MeterPage() {
  const now = document$.value
  return (
    <Shell
      header={<p>{t('title')}</p>}
      text="epoch-meter 1.0.0"
      isKnown={now !== undefined}
      listen={() => stream.listen()}
    >
      <main id="content">
        <h1 tabIndex={-1}>{t('title')}</h1>
        {now ? (
          <Card title={t('title')} isPage>
            <Meter counts={at(now, 'epoch-meter') as Parameters<typeof Meter>[0]['counts']} />
          </Card>
        ) : (
          <p role="status">{t('connecting')}</p>
        )}
        <p>
          <a class="target" href="/">
            {t('station')}
          </a>
        </p>
      </main>
    </Shell>
  )
}

stream.follow()
openPage(MeterPage)
