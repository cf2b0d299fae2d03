import { useQuery } from "@tanstack/react-query";
import { CircleX, LoaderCircle, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAllDocuments } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure } from "../../ui/notices";
import { uploads } from "./uploads";
import { type Document, useChange } from "./useDocuments";

const BUSY_INTERVAL = 2_000;
const QUIET_INTERVAL = 15_000;

const isRunning = ({ status }: Document) => status !== "failed";

/** The uploads of the last week that became no document, whoever sent them, and a way to take them off the list. */
export function useRefusedUploads() {
  const api = useApi();
  const workspace = useWorkspace();
  const found = useQuery({
    queryKey: [workspace, "documents", "uploads"],
    queryFn: async () => data(await api.GET("/documents/uploads")).uploads,
    enabled: useSeesAllDocuments(),
    refetchInterval: (query) => (query.state.data?.some(isRunning) ? BUSY_INTERVAL : QUIET_INTERVAL),
  });
  const rows = found.data ?? [];
  const remove = useChange(async (names: readonly string[]) => {
    const ids = rows.filter((row) => !isRunning(row) && names.includes(row.file_path)).map(({ id }) => id);
    if (ids.length > 0) await api.DELETE("/documents/uploads", { body: { doc_ids: [...new Set(ids)] } });
  });
  return { rows, remove };
}

/** Uploads of other tabs, people and programs that were refused, with the reason, or whose pages are still recognized. */
export function RefusedUploads() {
  const texts = useTexts();
  const format = useFormat();
  const mayWrite = useMayWrite();
  const workspace = useWorkspace();
  const { rows, remove } = useRefusedUploads();
  const own = useSyncExternalStore(uploads.subscribe, uploads.get).filter((upload) => upload.workspace === workspace);
  const listed = new Set(own.map(({ name }) => name));
  const others = rows.filter(({ file_path }) => !listed.has(file_path));
  if (others.length === 0) return null;
  const refused = others.filter((row) => !isRunning(row)).map(({ file_path }) => file_path);
  return (
    <section className="uploads" aria-label={texts.documents.refused}>
      <header>
        <h2>{texts.documents.refused}</h2>
        <span>{texts.documents.refusedText}</span>
        {mayWrite && refused.length > 1 && (
          <Button look="quiet" icon={X} label={texts.documents.dismissRefused} isDisabled={remove.isPending} onPress={() => remove.mutate(refused)} />
        )}
      </header>
      {remove.error && <Failure error={remove.error} />}
      <ul>
        {others.map((row) => (
          <li key={row.track_id} className={`upload ${isRunning(row) ? "recognizing" : "failed"}`}>
            {isRunning(row) ? <LoaderCircle size={16} aria-hidden /> : <CircleX size={16} aria-hidden />}
            <span className="name" title={row.file_path}>
              {row.file_path}
            </span>
            <span className="state">{isRunning(row) ? texts.documents.uploadStates.recognizing : format.moment(row.updated_at)}</span>
            <span className="message">{row.error_msg || row.content_summary}</span>
            {mayWrite && !isRunning(row) && (
              <span className="tools">
                <Button
                  look="quiet"
                  icon={X}
                  label={texts.documents.dismiss(row.file_path)}
                  isDisabled={remove.isPending}
                  onPress={() => remove.mutate([row.file_path])}
                />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
