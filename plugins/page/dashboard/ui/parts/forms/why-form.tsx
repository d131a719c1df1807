import { useState } from 'preact/hooks'
import { Field } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { t } from '../../i18n/index.js'
import { lastTime } from '../../model/gnss/procedure.js'
import { api } from '../../station/api.js'

/** Why were there no corrections at …? The flight record answers. */
export function WhyForm() {
  const [clock, setClock] = useState('')
  const submission = useSubmit(() => api.run('why-no-rtcm', clock === '' ? {} : { at: lastTime(clock, Date.now()) }))
  return (
    <Form submission={submission} label={t('procedure.whyAsk')} isForReaders isReport>
      <Field kind="time" label={t('procedure.whyTime')} value={clock} set={setClock} />
    </Form>
  )
}
