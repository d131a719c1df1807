import { effect } from '@preact/signals'
import 'uplot/dist/uPlot.min.css'
import './styles.css'
import './styles-gnss.css'
import { mount } from './app.js'
import { chooseLanguage } from './i18n/index.js'
import { follow, inContact } from './station/live.js'
import { chooseTheme } from './theme.js'

chooseTheme()
void chooseLanguage()
const root = document.getElementById('app')
if (root) mount(root)
follow()
// Values of a station without contact are grey.
effect(() => {
  document.body.classList.toggle('out-of-contact', !inContact.value)
})
