const KEY = 'holdfast-theme';
type Theme = 'light' | 'dark';

const dark = matchMedia('(prefers-color-scheme: dark)');

const chosen = (): Theme | undefined => {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : undefined;
};

export const currentTheme = (): Theme => chosen() ?? (dark.matches ? 'dark' : 'light');

/** Shows the theme that was chosen, else the system's, also when that changes. */
export function applyTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = currentTheme();
  };
  apply();
  dark.addEventListener('change', apply);
}

/** Chooses the other theme; the system's own is not kept, so that its changes are followed again. */
export function switchTheme(): Theme {
  const next = currentTheme() === 'dark' ? 'light' : 'dark';
  if ((next === 'dark') === dark.matches) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  document.documentElement.dataset.theme = next;
  return next;
}
