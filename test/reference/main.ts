/** `npm run docs` writes the generated pages; `npm run docs -- picture` takes the picture of the README from a running simulator. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'
import { generatedPages, packedFiles } from './pages.js'
import { takeFleetPicture, takePicture } from './picture.js'

if (process.argv[2] === 'picture') await takePicture()
else if (process.argv[2] === 'fleet-picture') await takeFleetPicture()
else {
  const root = packageRoot()
  const pages = await generatedPages()
  const packed = await packedFiles()
  for (const [path, text] of [...pages, ...packed]) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    // What is as it was keeps its time: a build is not older for it.
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
  }
  const made = new Map([...pages, ...packed])
  const folders = new Set(
    [...made.keys()].map((path) => dirname(path)).filter((folder) => /(api|reference)$/.test(folder)),
  )
  for (const folder of folders)
    for (const name of readdirSync(join(root, folder)))
      if (!made.has(join(folder, name))) rmSync(join(root, folder, name))
  console.log(`${pages.size} pages`)
}
process.exit(0)
