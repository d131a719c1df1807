/** Host and port of a caster, whatever it is for. */
import { t } from '../../i18n/index.js'
import { type CasterForm, cleanHost } from '../../model/casters.js'
import { TextField } from './text-field.js'

export function AddressFields(props: {
  form: CasterForm
  set: (more: Partial<CasterForm>) => void
  said: (of: 'host' | 'port') => string | undefined
}) {
  const { form, said, set } = props
  return (
    <>
      <TextField
        label={t('casters.host')}
        value={form.host}
        set={(host) => set({ host })}
        // A pasted address has a scheme or a port in it.
        done={(text) => set(cleanHost(text))}
        trouble={said('host')}
      />
      <TextField
        label={t('casters.port')}
        value={form.port}
        set={(port) => set({ port })}
        trouble={said('port')}
        isNumber
      />
    </>
  )
}
