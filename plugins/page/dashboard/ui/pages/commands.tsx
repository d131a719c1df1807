import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { inputFrom } from '../../../../../runtime/lib/page/ui/model/form.js'
import { Confirm } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { actionText, cautionText } from '../i18n/plugin-texts.js'
import { api, type StationAction } from '../station/api.js'

const load = () => api.actions()

function byPlugin(all: readonly StationAction[]): [plugin: string, own: StationAction[]][] {
  const found = new Map<string, StationAction[]>()
  for (const one of all) found.set(one.plugin, [...(found.get(one.plugin) ?? []), one])
  return [...found].sort(([a], [b]) => a.localeCompare(b))
}

/** Every action of every plugin, third-party ones too. */
export function CommandsPage() {
  const actions = useLoaded(load)
  const [text, setText] = useState('')
  const matches = (action: StationAction) => {
    const { name, summary, plugin } = action
    return `${name} ${actionText(action)} ${summary} ${plugin}`.toLowerCase().includes(text.toLowerCase())
  }
  return (
    <>
      <Field kind="search" label={t('commands.search')} value={text} set={setText} />
      <Waiting of={actions}>
        {(list) =>
          byPlugin(list.filter(matches)).map(([plugin, own]) => (
            <Card key={plugin} title={plugin}>
              {own.map((action) => (
                <ActionRow key={action.name} action={action} />
              ))}
            </Card>
          ))
        }
      </Waiting>
    </>
  )
}

function ActionRow({ action }: { action: StationAction }) {
  const { name, caution, input } = action
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const fields = Object.entries(input.properties ?? {})
  const [isAsking, setAsking] = useState(false)
  const { answer, isRunning, run } = useSubmit(() => api.run(name, inputFrom(input, texts)))
  return (
    <div class="command">
      <p>
        <code>{name}</code> {actionText(action)}
      </p>
      <div class="row">
        {fields.map(([field, { title, writeOnly }]) => (
          <Field
            key={field}
            label={fields.length > 1 ? (title ?? field) : t('commands.value', { name })}
            kind={writeOnly ? 'secret' : 'text'}
            isKnown
            value={texts[field] ?? ''}
            set={(text) => setTexts({ ...texts, [field]: text })}
          />
        ))}
        <button
          type="button"
          disabled={isRunning || (isReadOnly.value && !action.reads)}
          onClick={() => (caution ? setAsking(true) : void run())}
          aria-label={t('commands.run', { name })}
        >
          {isRunning ? t('commands.running') : name}
        </button>
      </div>
      <pre class={answer.isTrouble ? 'trouble' : ''} role="status">
        {answer.text}
      </pre>
      {isAsking && (
        <Confirm
          title={name}
          yes={t('commands.yes')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void run()
          }}
        >
          <p>{cautionText(action)}</p>
        </Confirm>
      )}
    </div>
  )
}
