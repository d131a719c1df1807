import { Card, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../i18n/index.js'
import { PasswordForm } from '../parts/forms/password-form.js'
import { session } from '../station/api.js'

/** Passwords of viewers and operators. */
export function AccessPage() {
  const isClosed = session.value?.login === true
  return (
    <>
      <Card title={t('access.operator')}>
        <p>
          <Tone tone={isClosed ? 'good' : 'warning'}>{t(isClosed ? 'access.closed' : 'access.open')}</Tone>
        </p>
        <PasswordForm of="operator" />
      </Card>
      {isClosed && (
        <Card title={t('access.viewer')}>
          {session.value?.passwords?.viewer && (
            <p>
              <Tone tone="good">{t('access.viewerSet')}</Tone>
            </p>
          )}
          <p>{t('access.viewerText')}</p>
          <PasswordForm of="viewer" />
        </Card>
      )}
    </>
  )
}
