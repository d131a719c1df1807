import { effect } from '@preact/signals'
import '../../../runtime/ui/styles/tokens.css'
import '../../../runtime/ui/styles/base.css'
import '../../../runtime/ui/styles/shell.css'
import '../../../runtime/ui/styles/chain.css'
import '../../../runtime/ui/styles/bands.css'
import './styles/fleet.css'
import './styles/net.css'
import { render } from 'preact'
import { chooseTheme } from '../../../runtime/ui/theme.js'
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
