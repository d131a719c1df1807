/** The help texts in `cli.md`: each stands behind the command that prints it. */
import { rtkBaseAll } from 'rtk-base/testing'

const block = /^```console\n\$ rtk-base (.*--help)\n[\s\S]*?^```$/gm

/** The page with the help texts of now. */
export async function withHelp(page: string): Promise<string> {
  const commands = [...page.matchAll(block)].map(([, args = '']) => args)
  const answers = await rtkBaseAll(commands.map((args) => args.split(' ')))
  const texts = new Map(commands.map((args, n) => [args, answers[n]?.stdout ?? '']))
  return page.replaceAll(block, (_, args: string) => `\`\`\`console\n$ rtk-base ${args}\n${texts.get(args)}\`\`\``)
}
