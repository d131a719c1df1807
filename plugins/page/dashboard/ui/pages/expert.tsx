import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../i18n/index.js'
import { ShowKeys } from '../parts/show-keys.js'
import { places } from '../shell/navigation.js'

/** For people who know the service: every command, the procedure, the plugins, the document. */
export function ExpertPage() {
  return (
    <Card title={t('page.expert')} isPage>
      <p>{t('expert.text')}</p>
      <ShowKeys />
      <p class="quiet">{t('settings.showKeysHelp')}</p>
      <ul class="list">
        {places()
          .filter(({ isExpert }) => isExpert)
          .map(({ path, title }) => (
            <li key={path}>
              <a class="target" href={`#/${path}`}>
                {title}
              </a>
            </li>
          ))}
        <li>
          <a class="target" href="/get-info">
            {t('expert.document')}
          </a>
        </li>
      </ul>
    </Card>
  )
}
