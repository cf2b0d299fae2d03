import { UploadCloud } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { useWorkspace } from "../../api/client";
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
  return (await Promise.all(entries.map(filesOf))).flat();
}

/** Takes files that are dropped anywhere in it. */
export function DropArea({ isEnabled, children }: { isEnabled: boolean; children: ReactNode }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const depth = useRef(0);
  const [isOver, setOver] = useState(false);
  if (!isEnabled) return <div className="page">{children}</div>;

  const move = (event: DragEvent, change: number) => {
    event.preventDefault();
    depth.current += change;
    setOver(depth.current > 0);
  };
  const drop = (event: DragEvent) => {
    move(event, -depth.current);
    void dropped(event.dataTransfer).then((files) => addFiles(files, workspace));
  };
  return (
    <div
      className="page"
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {isOver && (
        <div className="drop-here">
          <UploadCloud size={40} strokeWidth={1.4} aria-hidden />
          {texts.documents.drop}
        </div>
      )}
    </div>
  );
}
