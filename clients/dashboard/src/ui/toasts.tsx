import { useSyncExternalStore } from 'react';

/** A message that goes by itself. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
  readonly link?: { readonly text: string; readonly href: string };
}

const SHOWN_MS = 8_000;

let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Tells something at the edge of the page, for a while. */
export function toast(text: string, tone: Toast['tone'] = 'good', link?: Toast['link']): void {
  const id = ++count;
  set([...toasts.slice(-3), { id, text, tone, ...(link && { link }) }]);
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text, tone, link }) => (
        <p key={id} className={`toast ${tone}`}>
          {text}
          {link && <a href={link.href}>{link.text}</a>}
        </p>
      ))}
    </div>
  );
}
