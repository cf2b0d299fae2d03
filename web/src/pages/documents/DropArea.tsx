import { UploadCloud } from "lucide-react";
import { useEffect, useState } from "react";
import { useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { place } from "./kept";
import { addFiles } from "./uploads";

/** Files of a dropped item, those below a folder too. */
async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile)
    return [place(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)), entry.fullPath.slice(1))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // A browser gives the entries of a folder a hundred at a time.
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return found;
    for (const inner of entries) found.push(...(await filesOf(inner)));
  }
}

async function dropped(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return [...transfer.files];
  return (await Promise.all(entries.map(filesOf))).flat();
}

const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Keeps the browser from opening a dropped file in place of the page, also while nobody is signed in. */
export function keepPageOnDrop(): void {
  for (const type of ["dragover", "drop"] as const)
    window.addEventListener(type, (event) => {
      if (holdsFiles(event)) event.preventDefault();
    });
}

/** Adds files that are dropped anywhere in the window, whichever page is shown. */
export function DropArea() {
  const texts = useTexts();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // A drag enters an element before it leaves the one around it: over the window are more enters than leaves.
    let depth = 0;
    const move = (change: number) => (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      depth = Math.max(0, depth + change);
      setOver(depth > 0);
    };
    const drop = (event: DragEvent) => {
      depth = 0;
      setOver(false);
      if (mayWrite && event.dataTransfer && holdsFiles(event))
        void dropped(event.dataTransfer).then((files) => addFiles(files, workspace));
    };
    const listeners = [["dragenter", move(1)], ["dragleave", move(-1)], ["drop", drop]] as const;
    for (const [type, listener] of listeners) window.addEventListener(type, listener);
    return () => {
      for (const [type, listener] of listeners) window.removeEventListener(type, listener);
    };
  }, [mayWrite, workspace]);
  if (!isOver) return null;
  return (
    <div className="drop-here">
      <UploadCloud size={40} strokeWidth={1.4} aria-hidden />
      {mayWrite ? texts.documents.drop : texts.common.readOnly}
    </div>
  );
}
