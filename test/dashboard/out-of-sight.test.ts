import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { restOutOfSight } from '../../clients/dashboard/src/live/out-of-sight.js';

class Page extends EventTarget {
  visibilityState = 'visible';
  show(visibilityState: string) {
    this.visibilityState = visibilityState;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

let page: Page;
let told: string[];
let stop: () => void;
const watchOver = () => {
  stop = restOutOfSight({ rest: () => told.push('rest'), wake: () => told.push('wake') }, page);
};
beforeEach(() => {
  vi.useFakeTimers();
  page = new Page();
  told = [];
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

test('a page rests half a minute after it went out of sight, and wakes when it is seen again', () => {
  watchOver();
  told = [];
  page.show('hidden');
  vi.advanceTimersByTime(29_999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['rest']);
  page.show('visible');
  expect(told).toEqual(['rest', 'wake']);
});

test('a page that is seen again soon does not rest', () => {
  watchOver();
  page.show('hidden');
  vi.advanceTimersByTime(20_000);
  page.show('visible');
  vi.advanceTimersByTime(20_000);
  page.show('hidden');
  vi.advanceTimersByTime(20_000);
  expect(told).not.toContain('rest');
});

test('a page that was opened out of sight rests, too; one that is left does not any more', () => {
  page.visibilityState = 'hidden';
  watchOver();
  vi.advanceTimersByTime(30_000);
  expect(told).toEqual(['rest']);
  page.show('hidden');
  stop();
  vi.advanceTimersByTime(60_000);
  page.show('visible');
  expect(told).toEqual(['rest']);
});
