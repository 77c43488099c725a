import envPaths from 'env-paths';

/** Where data is kept unless HOLDFAST_DATA says otherwise. A file of its own: the client's commands need nothing else. */
export const defaultDataDir = (): string => envPaths('holdfast', { suffix: '' }).data;
