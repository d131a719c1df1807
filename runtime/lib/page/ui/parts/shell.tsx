/** Frame of every page: the login, a way past the navigation, notices, theme and language. */
import { type ComponentChildren, type FunctionComponent, render } from 'preact'
import { isReadOnly, loginWanted } from '../http.js'
import { chooseLanguage, t } from '../i18n.js'
import { chooseTheme } from '../theme.js'
import { Choices } from './choices.js'
import { Later } from './loaded.js'

interface ShellProps {
  header: ComponentChildren
  /** Between the header and the content. */
  navigation?: ComponentChildren
  /** Which service and version this is. */
  text: string
  /** There was a session: after its end the page stays behind the login, with all entered values. */
  isKnown: boolean
  /** Begins again after a login. */
  listen: () => void
  class?: string
  /** Notices, and the content: an `Outlet`, or a `main` with the id `content` and a heading that can be focused. */
  children: ComponentChildren
}

export function Shell(props: ShellProps) {
  const isAsked = loginWanted.value !== ''
  return (
    <>
      {isAsked && <Asked isKnown={props.isKnown} listen={props.listen} />}
      {(!isAsked || props.isKnown) && (
        <div class={`page ${props.class ?? ''}`} hidden={isAsked}>
          <Page {...props} />
        </div>
      )}
    </>
  )
}

function Asked({ isKnown, listen }: Pick<ShellProps, 'isKnown' | 'listen'>) {
  return <Later load={loadLogin} given={{ isEnded: isKnown, done: listen }} />
}

const loadLogin = async () => (await import('./login.js')).Login

const Page = ({ children, header, navigation, text }: ShellProps) => (
  <>
    <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('#content h1')?.focus()}>
      {t('app.skip')}
    </button>
    <header>{header}</header>
    {navigation}
    <div class="frame">
      {isReadOnly.value && <p class="notice">{t('login.viewer')}</p>}
      {children}
      <Choices text={text} />
    </div>
  </>
)

/** Draws a page in place of what the service has sent, in the theme and the language that the reader chose last. */
export function openPage(App: FunctionComponent): void {
  chooseTheme()
  void chooseLanguage()
  const root = document.getElementById('app')
  if (!root) return
  root.replaceChildren()
  render(<App />, root)
}
