/** Takes away something that the demo made. */
export type CleanUp = () => Promise<void>;
