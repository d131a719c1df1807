import { effect } from '@preact/signals'
import '../../../../runtime/lib/page/ui/styles/page.css'
import './styles/overview.css'
import './styles/outputs.css'
import './styles/plots.css'
import './styles/tasks.css'
import { App } from './app.js'
import { follow, inContact } from './station/live.js'
import './station/texts.js'
import { openPage } from '../../../../runtime/lib/page/ui/parts/shell.js'

// The station answers while the empty page is drawn.
follow()
openPage(App)
// Values of a station without contact are grey.
effect(() => {
  document.body.classList.toggle('out-of-contact', !inContact.value)
})
