import { focusManager, type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { createHashRouter, Navigate, RouterProvider } from "react-router";
import { ApiError, api, data } from "./api/client";
import { loadAhead, patient } from "./api/patient";
import { type Principal, PrincipalContext } from "./api/principal";
import { credentials, signedOutBecause } from "./api/session";
import { DocumentsPage } from "./pages/documents/DocumentsPage";
import { NotFound } from "./pages/NotFound";
import { Shell } from "./shell/Shell";
import { SignIn, SignInAgain } from "./shell/SignIn";
import { Crashed } from "./ui/CrashGuard";
import { Failure, Loading } from "./ui/notices";

const AskPage = patient(() => import("./pages/ask/AskPage"));
// By far the largest: it is loaded when somebody looks at it.
const GraphPage = lazy(() => import("./pages/graph/GraphPage"));
const BinPage = patient(() => import("./pages/documents/BinPage"));
const NamesPage = patient(() => import("./pages/graph/NamesPage"));
const SuccessionPage = patient(() => import("./pages/validity/SuccessionPage"));
const LogPage = patient(() => import("./pages/log/LogPage"));
const OperationsPage = patient(() => import("./pages/operations/OperationsPage"));
const ReceiptPage = patient(() => import("./pages/receipts/ReceiptPage"));
const ReceiptsPage = patient(() => import("./pages/receipts/ReceiptsPage"));
const DocumentPage = patient(() => import("./pages/document/DocumentPage"));

/** Milliseconds after which the rest of the page is loaded: what is looked at comes first. */
const QUIET = 1_500;

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
        { path: "bin", element: <BinPage /> },
        { path: "succession", element: <SuccessionPage /> },
        { path: "documents/:document", element: <DocumentPage /> },
        { path: "ask", element: <AskPage /> },
        { path: "graph", element: <GraphPage /> },
        { path: "graph/names", element: <NamesPage /> },
        { path: "receipts", element: <ReceiptsPage /> },
        { path: "receipts/:receipt", element: <ReceiptPage /> },
        { path: "log", element: <LogPage /> },
        { path: "operations", element: <OperationsPage /> },
        { path: "*", element: <NotFound /> },
      ],
    },
  ]);
}

/** Forgets what somebody was shown, but not how to sign in. */
function forget(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "auth-status" && queryKey[0] !== "principal" });
}

/**
 * Who is there, and who was there until the session ended: whoever signs in again finds the page as it was, with what
 * was half written; anybody else finds nothing of it.
 */
function useSession() {
  const queries = useQueryClient();
  const given = useSyncExternalStore(credentials.subscribe, credentials.get);
  const hasExpired = useSyncExternalStore(signedOutBecause.subscribe, signedOutBecause.get) === "expired";
  const last = useRef<Principal | undefined>(undefined);
  const hadExpired = useRef(false);
  const principal = useQuery({
    queryKey: ["principal", given.session ?? 0],
    queryFn: async () => {
      const found = data(await api().GET("/auth/principal"));
      if (last.current && last.current.name !== found.name) forget(queries);
      return found;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const found = principal.data;
  if (found) last.current = found;
  else if (!hasExpired && !given.token && !given.key) last.current = undefined;
  // Pages that wait for somebody to sign in ask for nothing meanwhile.
  useEffect(() => {
    focusManager.setFocused(hasExpired ? false : undefined);
    if (hadExpired.current && found) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "principal" });
    hadExpired.current = hasExpired || (hadExpired.current && !found);
  }, [hasExpired, found, queries]);
  return { principal, known: found ?? last.current };
}

/** Finds out who is there, then shows the pages or asks for credentials. */
export function App() {
  const status = useQuery({
    queryKey: ["auth-status"],
    queryFn: async () => data(await api().GET("/auth-status")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { principal, known } = useSession();
  const title = status.data?.webui_title || "Lightstream";
  const workspace = known?.default_workspace || known?.workspaces[0] || "default";
  const router = useMemo(() => routes(title, workspace), [title, workspace]);

  const isKnown = known !== undefined;
  useEffect(() => {
    if (!isKnown) return undefined;
    const timer = setTimeout(loadAhead, QUIET);
    return () => clearTimeout(timer);
  }, [isKnown]);

  if (status.isPending || (principal.isPending && !known)) return <Loading />;
  const error = status.error ?? principal.error;
  if (error && !(error instanceof ApiError && [401, 403].includes(error.status)))
    return <Failure error={error} retry={() => void principal.refetch().then(() => status.refetch())} />;
  const accounts = status.data?.auth_configured ?? false;
  if (!known) return <SignIn accounts={accounts} title={title} />;
  return (
    <PrincipalContext key={known.name} value={known}>
      <RouterProvider router={router} />
      {!principal.data && <SignInAgain accounts={accounts} title={title} />}
    </PrincipalContext>
  );
}
