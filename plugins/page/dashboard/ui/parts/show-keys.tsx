import { signal } from '@preact/signals'
import { Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { t } from '../i18n/index.js'

const stored = 'rtk-base-keys'

function remembered(): boolean {
  try {
    return localStorage.getItem(stored) === '1'
  } catch {
    return false
  }
}

/** Settings are shown with their keys, and those without a form as text: for people who also use the API. */
export const keysShown = signal(remembered())

/** Remembered on this device. */
export function ShowKeys() {
  const set = (isOn: boolean) => {
    keysShown.value = isOn
    try {
      localStorage.setItem(stored, isOn ? '1' : '0')
    } catch {}
  }
  return <Switch label={t('settings.showKeys')} isOn={keysShown.value} set={set} />
}
