const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `handle` instead of ending the process when a signal asks for that; the returned function undoes it. */
export function onSignals(handle: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of STOPPING) process.on(signal, handle);
  return () => {
    for (const signal of STOPPING) process.off(signal, handle);
  };
}
