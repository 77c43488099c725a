import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { CHROMIUM, hasChromium, launchChromium } from '../support/chromium.js';

const there = hasChromium();
if (!there) {
  const message = `THE DASHBOARD IS NOT TESTED: there is no ${CHROMIUM}. Install Debian's chromium.`;
  if (process.env.CI) throw new Error(message);
  console.warn(`\n*** ${message}\n`);
}

/** A `describe` that is skipped where there is no Chromium; with CI=true that is an error instead. */
export const describeInBrowser = describe.skipIf(!there);

let browser: Promise<Browser> | undefined;
const problems: string[] = [];
const pages: Page[] = [];

/** What a page is opened with. */
export interface Visit extends Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'reducedMotion'> {
  /** Signs in with it, as if it had been given in this tab. */
  readonly token?: string;
  /** Where in the dashboard, such as `#/p/default/timeline`. */
  readonly hash?: string;
}

/**
 * Opens the dashboard in a browser profile of its own, which ends with the test. Whatever goes wrong in the page fails
 * the test: exceptions, what the content security policy blocks, and requests to anywhere else.
 */
export async function visit(url: string, { token, hash = '', ...options }: Visit = {}): Promise<Page> {
  browser ??= launchChromium();
  const context = await (await browser).newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  pages.push(page);
  page.on('pageerror', (error) => problems.push(String(error.stack)));
  page.on('console', (message) => {
    // That the server is away is told there, too: some tests want it so.
    if (message.type() === 'error' && !/net::ERR|Failed to load resource/.test(message.text())) {
      problems.push(message.text());
    }
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`asked for ${request.url()}`);
  });
  if (token) {
    await page.addInitScript(`sessionStorage.setItem('holdfast-token', ${JSON.stringify(token)})`);
  }
  await page.goto(`${url}/${hash}`);
  return page;
}

/** Keeps a picture as an artefact of the test run. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = fileURLToPath(new URL('../artefacts/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.context().close()));
  expect(problems.splice(0)).toEqual([]);
});

afterAll(async () => {
  await (await browser)?.close();
});
