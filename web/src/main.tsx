import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { connected } from "./api/connection";
import { App } from "./app";
import { keepPageOnDrop } from "./pages/documents/DropArea";
import { show } from "./shell/preferences";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/shell.css";
import "./styles/documents.css";
import "./styles/ask.css";
import "./styles/graph.css";
import "./styles/log.css";
import "./styles/operations.css";

show();
keepPageOnDrop();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What the server refuses, it refuses again; what it could not answer is worth another try.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
      staleTime: 1_000,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

// What was asked for while nobody answered is asked for again.
connected.subscribe(() => {
  if (connected.get()) void queries.invalidateQueries();
});

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
