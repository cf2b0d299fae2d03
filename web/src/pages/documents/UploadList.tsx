import { CircleCheck, CirclePause, CircleX, CopyCheck, LoaderCircle, Play, RotateCw, X } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { usePrincipal } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Notice } from "../../ui/notices";
import { useRefusedUploads } from "./RefusedUploads";
import { clearSettled, dismiss, resumeAll, takeUpKept, tryAgain, type Upload, type UploadState, uploads } from "./uploads";

const ICONS = {
  waiting: LoaderCircle,
  sending: LoaderCircle,
  reading: LoaderCircle,
  recognizing: LoaderCircle,
  added: CircleCheck,
  duplicated: CopyCheck,
  failed: CircleX,
  paused: CirclePause,
} satisfies Record<UploadState, unknown>;

/** What needs somebody comes first, what is done last. */
const ORDER = { failed: 0, paused: 1, sending: 2, reading: 2, recognizing: 2, waiting: 3, added: 4, duplicated: 4 } satisfies Record<UploadState, number>;

/** A folder may have thousands of files: so many are listed, the others counted. */
const LISTED = 100;

function UploadRow({ upload, onDismiss }: { upload: Upload; onDismiss: () => void }) {
  const texts = useTexts();
  const Icon = ICONS[upload.state];
  const words = texts.documents.uploadStates[upload.state];
  const percent = upload.state === "sending" ? ` ${Math.round(upload.sent * 100)} %` : "";
  const message = upload.message || (upload.state === "failed" && texts.documents.broken);
  return (
    <li className={`upload ${upload.state}`}>
      <Icon size={16} aria-hidden />
      <span className="name" title={upload.path}>
        {upload.path}
      </span>
      <span className="state">
        {words}
        {percent}
      </span>
      {message && <span className="message">{message}</span>}
      {upload.state === "failed" && (
        <span className="tools">
          <Button look="quiet" icon={RotateCw} onPress={() => tryAgain(upload, upload.conflict)}>
            {upload.conflict ? texts.documents.replace : texts.common.retry}
          </Button>
          <Button look="quiet" icon={X} label={texts.documents.dismiss(upload.path)} onPress={onDismiss} />
        </span>
      )}
    </li>
  );
}

function useUploads(): Upload[] {
  const workspace = useWorkspace();
  return useSyncExternalStore(uploads.subscribe, uploads.get).filter((upload) => upload.workspace === workspace);
}

const IS_DONE: ReadonlySet<UploadState> = new Set(["added", "duplicated"]);

/** How far the files are that were dropped on pages that do not list them. */
export function UploadNotice() {
  const texts = useTexts();
  const workspace = useWorkspace();
  const [last] = useState(() => Math.max(0, ...uploads.get().map(({ id }) => id)));
  const all = useUploads().filter(({ id }) => id > last);
  if (all.length === 0) return null;
  const done = all.filter(({ state }) => IS_DONE.has(state)).length;
  const refused = all.filter(({ state }) => state === "failed").length;
  return (
    <Notice kind={refused > 0 ? "warning" : "info"}>
      <span>{texts.documents.uploadsDone(done, all.length)}</span>
      {refused > 0 && <span>{texts.documents.uploadsRefused(refused)}</span>}
      <Link to={`/${workspace}/documents`}>{texts.documents.uploads}</Link>
      <Button look="quiet" icon={X} label={texts.documents.clearUploads} onPress={clearSettled} />
    </Notice>
  );
}

/** The files that were given, how far each is, and why one was not taken. `only`: those of this document's name. */
export function UploadList({ only = "" }: { only?: string }) {
  const texts = useTexts();
  const { name: principal } = usePrincipal();
  const all = useUploads().filter((upload) => only === "" || upload.name === only);
  useEffect(() => void takeUpKept(principal), [principal]);
  // The server remembers what it refused, and would go on listing it.
  const { remove } = useRefusedUploads();
  const dismissed = (upload: Upload) => {
    dismiss(upload.id);
    remove.mutate([upload.name]);
  };
  const cleared = () => {
    clearSettled();
    remove.mutate(all.filter(({ state }) => state === "failed").map(({ name }) => name));
  };
  if (all.length === 0) return null;
  const isPaused = all.some(({ state }) => state === "paused");
  const shown = [...all].sort((one, other) => ORDER[one.state] - ORDER[other.state]).slice(0, LISTED);
  const done = all.filter(({ state }) => IS_DONE.has(state)).length;
  return (
    <section className="uploads" aria-label={texts.documents.uploads}>
      <header>
        <h2>{texts.documents.uploads}</h2>
        <span role="status">{texts.documents.uploadsDone(done, all.length)}</span>
        {isPaused && (
          <Button icon={Play} onPress={resumeAll}>
            {texts.documents.resume}
          </Button>
        )}
        <Button look="quiet" icon={X} label={texts.documents.clearUploads} onPress={cleared} />
      </header>
      <ul>
        {shown.map((upload) => (
          <UploadRow key={upload.id} upload={upload} onDismiss={() => dismissed(upload)} />
        ))}
      </ul>
      {all.length > LISTED && <p className="hint">{texts.documents.moreUploads(all.length - LISTED)}</p>}
    </section>
  );
}
