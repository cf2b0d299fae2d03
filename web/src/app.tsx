import { useQuery } from "@tanstack/react-query";
import { lazy, useMemo, useSyncExternalStore } from "react";
import { createHashRouter, Navigate, RouterProvider } from "react-router";
import { ApiError, api, data } from "./api/client";
import { PrincipalContext } from "./api/principal";
import { credentials } from "./api/session";
import { DocumentsPage } from "./pages/documents/DocumentsPage";
import { NotFound } from "./pages/NotFound";
import { Shell } from "./shell/Shell";
import { SignIn } from "./shell/SignIn";
import { Crashed } from "./ui/CrashGuard";
import { Failure, Loading } from "./ui/notices";

const AskPage = lazy(() => import("./pages/ask/AskPage"));
const GraphPage = lazy(() => import("./pages/graph/GraphPage"));
const LogPage = lazy(() => import("./pages/log/LogPage"));
const DocumentPage = lazy(() => import("./pages/document/DocumentPage"));

function routes(title: string, workspace: string) {
  return createHashRouter([
    { path: "/", element: <Navigate to={`/${workspace}/documents`} replace /> },
    {
      path: "/:workspace",
      element: <Shell title={title} />,
      errorElement: <Crashed />,
      children: [
        { index: true, element: <Navigate to="documents" replace /> },
        { path: "documents", element: <DocumentsPage /> },
        { path: "documents/:document", element: <DocumentPage /> },
        { path: "ask", element: <AskPage /> },
        { path: "graph", element: <GraphPage /> },
        { path: "log", element: <LogPage /> },
        { path: "*", element: <NotFound /> },
      ],
    },
  ]);
}

/** Finds out who is there, then shows the pages or asks for credentials. */
export function App() {
  const given = useSyncExternalStore(credentials.subscribe, credentials.get);
  const status = useQuery({
    queryKey: ["auth-status"],
    queryFn: async () => data(await api().GET("/auth-status")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const principal = useQuery({
    queryKey: ["principal", given.session ?? 0],
    queryFn: async () => data(await api().GET("/auth/principal")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const title = status.data?.webui_title || "Lightstream";
  const workspace = principal.data?.default_workspace || principal.data?.workspaces[0] || "default";
  const router = useMemo(() => routes(title, workspace), [title, workspace]);

  if (status.isPending || principal.isPending) return <Loading />;
  const error = status.error ?? principal.error;
  if (error && !(error instanceof ApiError && [401, 403].includes(error.status)))
    return <Failure error={error} retry={() => void principal.refetch().then(() => status.refetch())} />;
  if (!principal.data) return <SignIn accounts={status.data?.auth_configured ?? false} title={title} />;
  return (
    <PrincipalContext value={principal.data}>
      <RouterProvider router={router} />
    </PrincipalContext>
  );
}
