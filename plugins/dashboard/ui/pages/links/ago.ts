import { duration, t } from '../../i18n/index.js'

export const ago = (seconds: number) => (seconds < 1 ? t('links.now') : t('links.ago', { time: duration(seconds) }))
