/** The names under which sets of tools are asked for. A file of its own, so that help need not load the tools. */
export const TOOLSET_NAMES = ['holdfast', 'marq', 'seamless'] as const;

export type ToolsetName = (typeof TOOLSET_NAMES)[number];
