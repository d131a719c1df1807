import { render } from 'preact'

const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<h1>rtk-base</h1>, root)
}
