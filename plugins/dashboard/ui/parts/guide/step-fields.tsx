import { t } from '../../i18n/index.js'
import type { Parameter } from '../../station/api.js'
import { type Loaded, Waiting } from '../loaded.js'
import { ParameterForm } from '../parameter-form.js'

/** The settings of a step, as the page of the settings has them; nothing where no plugin has one of them. */
export function StepFields({ parameters, names }: { parameters: Loaded<Parameter[]>; names: RegExp }) {
  return (
    <Waiting of={parameters}>
      {(all) => {
        const own = all.filter(({ name }) => names.test(name))
        if (own.length === 0) return null
        return (
          <details>
            <summary>{t('guide.change')}</summary>
            <ParameterForm parameters={own} level={3} again={parameters.again} />
          </details>
        )
      }}
    </Waiting>
  )
}
