import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Session } from '../session.js';
import type { ProjectLive } from './project-live.js';

/** What every page of a project works with. */
export interface Place {
  readonly session: Session;
  readonly live: ProjectLive;
  /** The project's id, as links name it. */
  readonly project: string;
}

export const PlaceContext = createContext<Place | undefined>(undefined);

/** Session and project, drawing the component anew whenever the project changes. */
export function useLive(): Place {
  const place = usePlace();
  const { live } = place;
  useSyncExternalStore(live.subscribe, () => live.version);
  return place;
}

/** The same, for components that draw nothing of what changes. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error('outside of a project');
  return place;
}
