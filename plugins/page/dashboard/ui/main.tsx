import { effect } from '@preact/signals'
import '../../../../runtime/lib/page/ui/styles/tokens.css'
import '../../../../runtime/lib/page/ui/styles/base.css'
import '../../../../runtime/lib/page/ui/styles/shell.css'
import '../../../../runtime/lib/page/ui/styles/chain.css'
import './styles/overview.css'
import './styles/outputs.css'
import './styles/plots.css'
import './styles/tasks.css'
import '../../../../runtime/lib/page/ui/styles/bands.css'
import { mount } from './app.js'
import { chooseLanguage } from './i18n/index.js'
import { follow, inContact } from './station/live.js'
import './station/texts.js'
import { chooseTheme } from '../../../../runtime/lib/page/ui/theme.js'

chooseTheme()
void chooseLanguage()
// The station answers while the empty page is drawn.
follow()
const root = document.getElementById('app')
if (root) mount(root)
// Values of a station without contact are grey.
effect(() => {
  document.body.classList.toggle('out-of-contact', !inContact.value)
})
