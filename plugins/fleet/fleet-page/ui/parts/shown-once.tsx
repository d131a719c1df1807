import { CopyButton } from '../../../../../runtime/lib/page/ui/parts/copy-button.js'
import { t } from '../i18n/index.js'

/** A secret that can be read now and never again. */
export const ShownOnce = ({ text, secret }: { text: string; secret: string }) => (
  <div class="notice" role="status">
    <p>{text}</p>
    <p class="once">
      <code>{secret}</code>
    </p>
    <p>{t('once.warning')}</p>
    <CopyButton text={secret} />
  </div>
)
