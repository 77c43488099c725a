import type { ReactNode } from 'react';

/** Says that there is nothing, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <div className="empty-hint">{children}</div>}
    </div>
  );
}
