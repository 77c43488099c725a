import { parseArgs } from 'node:util';
import { launchChromium } from '../test/support/chromium.js';
import { startBoard } from './load/boards.js';

/**
 * The dashboard on a large board: how long until the first cards are there and until all of it is read, and how
 * smooth a column scrolls. In the system's Chromium, without a graphics processor: a person's is faster.
 *
 * Run: npm run bench:dashboard [-- --tasks 10000 --rounds 5]
 */

const { values: options } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
  },
});
const TASKS = Number(options.tasks);
const ROUNDS = Number(options.rounds);
const GOALS = { 'first paint': 1_000, 'first cards': 2_000, 'whole board': 6_000, 'frame, p95': 34 } as const;
type Figure = keyof typeof GOALS;

/** Scrolls the longest column by two cards a frame, and answers the frames' lengths in ms. Runs in the page. */
const SCROLL = `new Promise((resolve) => {
  const columns = [...document.querySelectorAll('.column-cards')];
  const longest = columns.sort((a, b) => b.scrollHeight - a.scrollHeight)[0];
  const frames = [];
  let last;
  const step = (now) => {
    if (last !== undefined) frames.push(now - last);
    last = now;
    longest.scrollTop += 180;
    if (frames.length < 180) requestAnimationFrame(step);
    else resolve({ frames, cards: longest.querySelectorAll('.card').length });
  };
  requestAnimationFrame(step);
})`;

const board = await startBoard(TASKS);
const figures: Record<Figure, number[]> = {
  'first paint': [],
  'first cards': [],
  'whole board': [],
  'frame, p95': [],
};
let cards = 0;
try {
  const browser = await launchChromium();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const page = await context.newPage();
      await page.addInitScript(
        `sessionStorage.setItem('holdfast-token', ${JSON.stringify(board.server.token)})`,
      );
      const began = performance.now();
      await page.goto(`http://127.0.0.1:${board.server.port}/`);
      await page.locator('.card').first().waitFor();
      figures['first cards'].push(performance.now() - began);
      await page.locator('.loading').waitFor({ state: 'detached' });
      figures['whole board'].push(performance.now() - began);
      const paint = await page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime",
      );
      figures['first paint'].push(Number(paint));
      const scrolled = (await page.evaluate(SCROLL)) as { frames: number[]; cards: number };
      const sorted = scrolled.frames.sort((a, b) => a - b);
      figures['frame, p95'].push(sorted[Math.floor(sorted.length * 0.95)] ?? 0);
      cards = scrolled.cards;
      await context.close();
    }
  } finally {
    await browser.close();
  }
} finally {
  await board.stop();
}

console.log(
  `\n${TASKS.toLocaleString('en')} tasks, medians of ${ROUNDS} rounds; ${cards} cards of a column in the page`,
);
for (const [name, values] of Object.entries(figures) as [Figure, number[]][]) {
  const median = values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const verdict = median <= GOALS[name] ? 'ok' : 'MISSED';
  console.log(
    `  ${name.padEnd(12)} ${median.toFixed(0).padStart(6)} ms   goal ${GOALS[name]} ms   ${verdict}`,
  );
  if (verdict === 'MISSED') process.exitCode = 1;
}
