import { useState } from 'preact/hooks'
import { Confirm } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { actionText, cautionText } from '../i18n/plugin-texts.js'
import { byPlugin, inputFrom } from '../model/form.js'
import { api, type StationAction } from '../station/api.js'
import { hello } from '../station/live.js'

const secretInput = { type: 'password', autocomplete: 'off' } as const
const load = () => api.actions()

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
      <label>
        {t('commands.search')}
        <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
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
  const [answer, setAnswer] = useState('')
  const [isTrouble, setTrouble] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const run = async () => {
    setRunning(true)
    setAnswer('')
    try {
      setAnswer(await api.run(name, inputFrom(input, texts)))
      setTrouble(false)
    } catch (error) {
      setAnswer(error instanceof Error ? error.message : String(error))
      setTrouble(true)
    }
    setRunning(false)
  }
  return (
    <div class="command">
      <p>
        <code>{name}</code> {actionText(action)}
      </p>
      <div class="row">
        {fields.map(([field, { title, writeOnly }]) => (
          <label key={field}>
            {fields.length > 1 ? (title ?? field) : t('commands.value', { name })}
            <input
              {...(writeOnly ? secretInput : { type: 'text' as const })}
              value={texts[field] ?? ''}
              onInput={({ currentTarget }) => setTexts({ ...texts, [field]: currentTarget.value })}
            />
          </label>
        ))}
        <button
          type="button"
          disabled={isRunning || (hello.value?.role === 'viewer' && !action.reads)}
          onClick={() => (caution ? setAsking(true) : void run())}
          aria-label={t('commands.run', { name })}
        >
          {isRunning ? t('commands.running') : name}
        </button>
      </div>
      <pre class={isTrouble ? 'trouble' : ''} role="status">
        {answer}
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
