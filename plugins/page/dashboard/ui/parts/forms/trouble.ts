import { t } from '../../i18n/index.js'
import { type Field, wrongOf } from '../../model/form.js'

/** What is wrong with a text as it is typed; '' for nothing, and before anything is. */
export function troubleOf(field: Field, entered: string | undefined): string {
  const wrong = entered === undefined ? undefined : wrongOf(field, entered)
  return wrong ? t(`settings.wrong.${wrong.name}`, wrong.values) : ''
}
