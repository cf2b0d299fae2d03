import { useEffect } from "react";
import { useNavigate } from "react-router";
import { useWorkspace } from "../api/client";

/** The field that is looked in on a page: the question, else what finds something. */
const FIELD = "main .ask-form textarea, main .search input, main [role=searchbox]";

/** How long a page may take to have its field, in milliseconds. */
const PATIENCE = 2_000;

function focusField(): boolean {
  const field = document.querySelector<HTMLInputElement | HTMLTextAreaElement>(FIELD);
  field?.focus();
  field?.select();
  return field !== null;
}

/** Focuses the field when the page that has it is there. */
function focusWhenThere(end = performance.now() + PATIENCE): void {
  if (!focusField() && performance.now() < end) requestAnimationFrame(() => focusWhenThere(end));
}

const isWriting = (target: EventTarget | null) => target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;

/** Ctrl+K (on a Mac ⌘K) and `/` go to what the page searches in; one that has nothing of that leads to the documents. */
export function useShortcuts(): void {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isCommand = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event.target);
      // A dialog keeps the focus.
      if (!(isCommand || isSlash) || document.querySelector("[role=dialog], [role=alertdialog]")) return;
      event.preventDefault();
      if (focusField()) return;
      void navigate(`/${workspace}/documents`);
      focusWhenThere();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [workspace, navigate]);
}
