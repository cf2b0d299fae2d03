import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The query service serves what is built here; see services/gateway/web_page.py. */
const BUILT = process.env.WEB_OUT ?? "../services/gateway/web_page_files";

/** While the page is worked on (`npm run dev`), the API of a running stack answers. */
const API = process.env.LIGHTSTREAM_URL ?? "http://127.0.0.1:9621";

export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: BUILT,
    emptyOutDir: true,
    // Everything is a file of its own: the Content-Security-Policy allows no data: scripts and styles.
    assetsInlineLimit: 0,
    target: "es2022",
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      [
        "/auth",
        "/documents",
        "/query",
        "/graph",
        "/graphs",
        "/health",
        "/login",
        "/operations",
        "/events",
      ].map((path) => [path, API]),
    ),
  },
});
