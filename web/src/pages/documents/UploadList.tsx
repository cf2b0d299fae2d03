import { CircleCheck, CircleX, CopyCheck, LoaderCircle, RotateCw, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { clearSettled, tryAgain, type Upload, type UploadState, uploads } from "./uploads";

const ICONS = {
  waiting: LoaderCircle,
  sending: LoaderCircle,
  reading: LoaderCircle,
  added: CircleCheck,
  duplicated: CopyCheck,
  failed: CircleX,
} satisfies Record<UploadState, unknown>;

function UploadRow({ upload }: { upload: Upload }) {
  const texts = useTexts();
  const Icon = ICONS[upload.state];
  const words = texts.documents.uploadStates[upload.state];
  const percent = upload.state === "sending" ? ` ${Math.round(upload.sent * 100)} %` : "";
  return (
    <li className={`upload ${upload.state}`}>
      <Icon size={16} aria-hidden />
      <span className="name" title={upload.name}>
        {upload.name}
      </span>
      <span className="state">
        {words}
        {percent}
      </span>
      {upload.message && <span className="message">{upload.message}</span>}
      {upload.state === "failed" && (
        <Button look="quiet" icon={RotateCw} onPress={() => tryAgain(upload, upload.conflict)}>
          {upload.conflict ? texts.documents.replace : texts.common.retry}
        </Button>
      )}
    </li>
  );
}

/** The files that were given, how far each is, and why one was not taken. */
export function UploadList() {
  const texts = useTexts();
  const workspace = useWorkspace();
  const all = useSyncExternalStore(uploads.subscribe, uploads.get).filter(
    (upload) => upload.workspace === workspace,
  );
  if (all.length === 0) return null;
  const done = all.filter((upload) => upload.state === "added" || upload.state === "duplicated").length;
  return (
    <section className="uploads" aria-label={texts.documents.uploads}>
      <header>
        <h2>{texts.documents.uploads}</h2>
        <span role="status">{texts.documents.uploadsDone(done, all.length)}</span>
        <Button look="quiet" icon={X} label={texts.documents.clearUploads} onPress={clearSettled} />
      </header>
      <ul>
        {all.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  );
}
