import { useEffect } from 'react';
import { go, pageLink } from './route.js';
import { isTyping, useKeys } from './ui/use-keys.js';

/** 1, 2 and 3 go to the pages, / to the search; Escape closes what is open beside the page. */
export function useShortcuts(project: string, close: (() => void) | undefined): void {
  useKeys(
    new Map([
      ['1', () => go(pageLink(project, 'board'))],
      ['2', () => go(pageLink(project, 'timeline'))],
      ['3', () => go(pageLink(project, 'attention'))],
      ['/', () => document.querySelector<HTMLElement>('[data-search]')?.focus()],
    ]),
  );
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      // The first one leaves the field, the second one what it is in.
      if (isTyping(target)) (target as HTMLElement).blur();
      else close?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [close]);
}
