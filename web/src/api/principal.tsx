import { createContext, useContext } from "react";
import type { Schemas } from "./client";

export type Principal = Schemas["CurrentPrincipal"];

export const PrincipalContext = createContext<Principal>({
  name: "anyone",
  right: "read",
  workspaces: [],
  default_workspace: "",
});

export const usePrincipal = () => useContext(PrincipalContext);

/** Whether buttons that change something are shown; the server refuses in any case. */
export const useMayWrite = () => usePrincipal().right === "write";

/** Whether somebody may look at the deployment as a whole, not at single workspaces only. */
export const useSeesAll = () => usePrincipal().workspaces.includes("*");
