import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Where the server finds it, inside the package that is published.
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    // The strict CSP allows nothing inline, and images as data: only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
  },
});
