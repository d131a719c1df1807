import { useEffect, useState } from 'preact/hooks'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { helpOf, labelOf } from '../i18n/plugin-texts.js'
import { ParameterForm } from '../parts/forms/parameter-form.js'
import { SettingsFileFold } from '../parts/forms/settings-file.js'
import { ShowKeys } from '../parts/show-keys.js'
import { place } from '../place.js'
import { api, type Parameter } from '../station/api.js'

const load = () => api.parameters()

const matches = (one: Parameter, wanted: string) =>
  `${one.name} ${labelOf(one)} ${helpOf(one)} ${one.title} ${one.plugin} ${one.schema.description ?? ''}`
    .toLowerCase()
    .includes(wanted.trim().toLowerCase())

/** Every parameter of every plugin, in sections: searched, reviewed before it is sent, and taken back. */
export function SettingsPage() {
  const parameters = useLoaded(load)
  // `#/settings?find=ntrip`: a link to a setting.
  const linked = place.value.query.get('find') ?? ''
  const [wanted, setWanted] = useState(linked)
  useEffect(() => setWanted(linked), [linked])
  return (
    <Waiting of={parameters}>
      {(list) => (
        <>
          <Field kind="search" label={t('settings.search')} value={wanted} set={setWanted} />
          <ShowKeys />
          <SettingsFileFold parameters={list} again={parameters.again} />
          <ParameterForm parameters={list} isShown={(one) => matches(one, wanted)} again={parameters.again} />
        </>
      )}
    </Waiting>
  )
}
