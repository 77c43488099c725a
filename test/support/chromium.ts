import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's, as its package `chromium` installs it. */
export const CHROMIUM = '/usr/bin/chromium';

export const hasChromium = (): boolean => existsSync(CHROMIUM);

/** Starts it without anything that needs a screen, a sandbox for root, or the network. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
