import { marqTools } from './profiles/marq.js';
import { SEAMLESS_TOOLS } from './profiles/seamless.js';
import { HOLDFAST_TOOLS, type Toolset } from './toolset.js';
import type { ToolsetName } from './toolset-names.js';

/** By the name under which they are asked for. */
export const TOOLSETS = {
  holdfast: HOLDFAST_TOOLS,
  marq: marqTools(HOLDFAST_TOOLS),
  seamless: SEAMLESS_TOOLS,
} as const satisfies Record<ToolsetName, Toolset>;

export const isToolsetName = (name: string): name is ToolsetName => Object.hasOwn(TOOLSETS, name);
