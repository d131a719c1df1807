import { effect } from '@preact/signals'
import '../../../../runtime/lib/page/ui/styles/page.css'
import './styles/fleet.css'
import './styles/net.css'
import { openPage } from '../../../../runtime/lib/page/ui/parts/shell.js'
import { App } from './app.js'
import { follow, inContact } from './fleet/live.js'
import './i18n/index.js'

follow()
openPage(App)
// Values without contact are grey.
effect(() => {
  document.body.classList.toggle('out-of-contact', !inContact.value)
})
