/** The slot that the launcher has started the service from. */
export interface RunningSlot {
  /** Folder of the slots and their state. */
  readonly root: string
  /** `a`, `b`, or `f` for what was installed with the system. */
  readonly running: string
  /** It is not the one that was confirmed last. */
  readonly onTrial: boolean
}

/** What the launcher exports; undefined where none started this process. */
export function slotFromEnvironment(env: NodeJS.ProcessEnv = process.env): RunningSlot | undefined {
  const { RTK_BASE_ROOT: root, RTK_BASE_SLOT: running, RTK_TRIAL: trial } = env
  return root && running ? { root, running, onTrial: trial === running } : undefined
}
