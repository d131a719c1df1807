import type { ImageManifest } from 'rtk-base/image'
import { RtkError } from 'rtk-base/plugin'

/** Where whole bundles are installed: what the trial of a version needs of it. */
export interface Installer {
  /** Name of what runs now. */
  readonly running: string
  /** The trial succeeded: what runs is started from now on. Durable when it resolves. */
  confirm(): Promise<void>
  /** The trial failed: the one before is started from now on. */
  giveUp(): Promise<void>
  /** Ends this run; what is to run next is started. */
  restart(): Promise<void>
}

/** Takes the files of an image whose signature this plugin has verified: the slots of the launcher. */
export interface FolderInstaller extends Installer {
  /**
   * An empty place for the files of an image. What ran last and what runs now stay as they are.
   * @throws RTK_ERR_UNAVAILABLE with the reason when there is no room
   */
  prepare(manifest: ImageManifest): Promise<{ slot: string; folder: string }>
  /** The files are there: from the next start on the bundle is on trial. Durable when it resolves. */
  commit(manifest: ImageManifest): Promise<void>
  /** Removes what `prepare` made. */
  abandon(): Promise<void>
  /** A slot whose trial has ended without success and that nobody has reported yet. */
  givenUp(): Promise<string | undefined>
  /** It was reported. */
  reported(): Promise<void>
}

/** Takes a whole file in a format of its own, and verifies its signature itself: RAUC. */
export interface BundleInstaller extends Installer {
  /**
   * Resolves when the bundle is installed and is started next.
   * @throws RTK_ERR_IMAGE when it was refused, RTK_ERR_UPDATE_RUNNING, RTK_ERR_UNAVAILABLE; OutcomeUnknown
   */
  install(file: string, steps: InstallSteps): Promise<void>
}

export interface InstallSteps {
  /** Called before anything is written. */
  begin(bundle: { version: string; slot: string }): Promise<void>
  progress(percent: number): void
}

/** The installer was lost from sight: it may have ended what it began, or not. */
export class OutcomeUnknown extends RtkError {
  constructor(text: string) {
    super('RTK_ERR_UNAVAILABLE', text)
  }
}
