/** Of a caster, whatever it is for. */
import { Field } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { t } from '../../i18n/index.js'
import { type CasterForm, type CasterTroubles, cleanHost } from '../../model/casters.js'

export interface CasterFieldsProps {
  form: CasterForm
  /** Wrong entries to show, by field. */
  troubles: CasterTroubles
  set: (more: Partial<CasterForm>) => void
}

const saidOf = (troubles: CasterTroubles) => (of: keyof CasterTroubles) => {
  const trouble = troubles[of]
  return trouble && t(`casters.trouble.${trouble}`)
}

/** Host and port. */
export function AddressFields({ form, set, troubles }: CasterFieldsProps) {
  const said = saidOf(troubles)
  return (
    <>
      <Field
        label={t('casters.host')}
        value={form.host}
        set={(host) => set({ host })}
        // A pasted address has a scheme or a port in it.
        left={(text) => set(cleanHost(text))}
        trouble={said('host')}
      />
      <Field
        kind="whole"
        label={t('casters.port')}
        value={form.port}
        set={(port) => set({ port })}
        trouble={said('port')}
      />
    </>
  )
}

/** Mountpoint and login. */
export function LoginFields(
  props: CasterFieldsProps & { hasUser: boolean; mountHelp?: string; keepsPassword: boolean },
) {
  const { form, hasUser, keepsPassword, mountHelp, set, troubles } = props
  const said = saidOf(troubles)
  return (
    <>
      <Field
        label={t('casters.mount')}
        value={form.mount}
        set={(mount) => set({ mount })}
        trouble={said('mount')}
        help={mountHelp}
      />
      {hasUser && (
        <Field label={t('casters.user')} value={form.user} set={(user) => set({ user })} trouble={said('user')} />
      )}
      <Field
        kind="secret"
        label={t('casters.password')}
        value={form.password}
        set={(password) => set({ password })}
        trouble={said('password')}
        help={keepsPassword ? t('casters.keeps') : ''}
      />
    </>
  )
}
