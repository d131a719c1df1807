import { effect } from '@preact/signals'
import '../../../../runtime/lib/page/ui/styles/tokens.css'
import '../../../../runtime/lib/page/ui/styles/base.css'
import '../../../../runtime/lib/page/ui/styles/shell.css'
import '../../../../runtime/lib/page/ui/styles/chain.css'
import '../../../../runtime/lib/page/ui/styles/bands.css'
import './styles/fleet.css'
import './styles/net.css'
import { render } from 'preact'
import { chooseTheme } from '../../../../runtime/lib/page/ui/theme.js'
import { App } from './app.js'
import { follow, inContact } from './fleet/live.js'
import { chooseLanguage } from './i18n/index.js'

chooseTheme()
void chooseLanguage()
follow()
const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
// Values without contact are grey.
effect(() => {
  document.body.classList.toggle('out-of-contact', !inContact.value)
})
