import './styles.css'
import { mount } from './app.js'
import { chooseLanguage } from './i18n/index.js'
import { follow } from './station/live.js'
import { chooseTheme } from './theme.js'

chooseTheme()
void chooseLanguage()
const root = document.getElementById('app')
if (root) mount(root)
follow()
