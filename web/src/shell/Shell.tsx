import { useQuery } from "@tanstack/react-query";
import { BookOpen, Braces, FileText, LogOut, MessageCircleQuestion, ScrollText, Settings2, Share2 } from "lucide-react";
import { Suspense, useSyncExternalStore } from "react";
import { NavLink, Outlet, useLocation } from "react-router";
import { api, BASE, data, useWorkspace } from "../api/client";
import { connected } from "../api/connection";
import { useLiveEvents } from "../api/live";
import { usePrincipal, useSeesAllDocuments } from "../api/principal";
import { credentials, signOut } from "../api/session";
import { DropArea } from "../pages/documents/DropArea";
import { UploadNotice } from "../pages/documents/UploadList";
import { useTexts } from "../texts";
import { CrashGuard } from "../ui/CrashGuard";
import { Button } from "../ui/controls";
import { Loading, Notice } from "../ui/notices";
import { LanguageMenu, ThemeMenu } from "./PreferenceMenus";
import { useShortcuts } from "./useShortcuts";
import { WorkspaceMenu } from "./WorkspaceMenu";

const PAGES = [
  { id: "documents", icon: FileText, isForAll: true },
  { id: "ask", icon: MessageCircleQuestion, isForAll: true },
  { id: "graph", icon: Share2, isForAll: true },
  { id: "log", icon: ScrollText, isForAll: false },
  { id: "operations", icon: Settings2, isForAll: false },
] as const;

/** Places that belong to a page and do not stand below its address. */
const PLACES_BELOW: Record<string, RegExp> = { documents: /^\/[^/]+\/(bin|succession)$/, ask: /^\/[^/]+\/receipts(\/|$)/ };

function Account() {
  const texts = useTexts();
  const { name } = usePrincipal();
  const given = useSyncExternalStore(credentials.subscribe, credentials.get);
  if (!given.token && !given.key) return null;
  const shown = name.slice(name.indexOf(":") + 1);
  return (
    <div className="account">
      <span title={name}>{shown}</span>
      <Button look="quiet" icon={LogOut} label={texts.shell.signOut} onPress={() => signOut()} />
    </div>
  );
}

/** The frame of every page: where one is, where one can go, and what the server last said. */
export function Shell({ title }: { title: string }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  const { pathname } = useLocation();
  const seesAllDocuments = useSeesAllDocuments();
  useLiveEvents();
  useShortcuts();
  // A page that asks for nothing by itself would never learn that the server is there again.
  useQuery({ queryKey: ["ping"], queryFn: async () => data(await api().GET("/auth-status")), enabled: !isConnected, refetchInterval: 3_000, gcTime: 0 });
  return (
    <div className="shell">
      <a className="skip" href={`#${pathname}`} onClick={() => document.querySelector("main")?.focus()}>
        {texts.common.skip}
      </a>
      <header className="bar">
        <NavLink to={`/${workspace}/documents`} className="brand" aria-label={title}>
          <img src="./icon.svg" alt="" width={24} height={24} />
          <span>{title}</span>
        </NavLink>
        <WorkspaceMenu />
        <nav aria-label={texts.nav.label}>
          {PAGES.filter(({ isForAll }) => isForAll || seesAllDocuments).map(({ id, icon: Icon }) => (
            <NavLink key={id} to={`/${workspace}/${id}`} className={({ isActive }) => (isActive || PLACES_BELOW[id]?.test(pathname) ? "active" : "")}>
              <Icon size={17} aria-hidden />
              <span>{texts.nav[id]}</span>
            </NavLink>
          ))}
        </nav>
        <div className="tools">
          <a
            className="button quiet bare"
            href={`${BASE}/manual/`}
            title={texts.shell.manual}
            aria-label={texts.shell.manual}
          >
            <BookOpen size={16} aria-hidden />
          </a>
          <a
            className="button quiet bare"
            href={`${BASE}/docs`}
            title={texts.shell.api}
            aria-label={texts.shell.api}
          >
            <Braces size={16} aria-hidden />
          </a>
          <LanguageMenu />
          <ThemeMenu />
          <Account />
        </div>
      </header>
      {!isConnected && <Notice kind="warning">{texts.common.lost}</Notice>}
      <DropArea />
      {!/^\/[^/]+\/documents/.test(pathname) && <UploadNotice />}
      <main tabIndex={-1}>
        <CrashGuard key={pathname}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </CrashGuard>
      </main>
    </div>
  );
}
