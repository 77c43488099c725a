import { Component, type ReactNode } from 'react';

/** When a page fails to draw itself, says so instead of leaving nothing; another page or a reload may still work. */
export class FaultShown extends Component<{ children: ReactNode }, { fault?: Error }> {
  override state: { fault?: Error } = {};

  static getDerivedStateFromError(fault: Error) {
    return { fault };
  }

  override render() {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <div className="empty" role="alert">
        <p className="empty-title">This page could not be drawn</p>
        <div className="empty-hint">
          <p className="problem">{fault.message}</p>
          <button type="button" className="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </div>
    );
  }
}
