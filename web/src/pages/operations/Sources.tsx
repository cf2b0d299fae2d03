import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderSync, Pause, Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";

type Source = Schemas["SourceEntry"];

/** Pauses or resumes a source, and reads the list anew. */
function useChange(path: "/operations/sources/pause" | "/operations/sources/resume") {
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: Schemas["SourceChange"]) => data(await api.POST(path, { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [workspace, "sources"] }),
  });
}

/** Asks why, and pauses. */
function PauseDialog({ source, onClose }: { source: string; onClose: () => void }) {
  const all = useTexts();
  const texts = all.operations.sourceTab;
  const [reason, setReason] = useState("");
  const pause = useChange("/operations/sources/pause");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    pause.mutate({ source, reason: reason.trim() }, { onSuccess: onClose });
  };
  return (
    <Dialog title={texts.pauseTitle} isOpen onClose={onClose}>
      <form onSubmit={submit}>
        {pause.error && <Failure error={pause.error} />}
        <p>{texts.pauseText(source)}</p>
        <TextInput label={texts.reason} value={reason} onChange={setReason} autoFocus />
        <div className="actions">
          <Button onPress={onClose}>{all.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={pause.isPending}>
            {texts.pause}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** How the last run ended, in a line. */
function useLastRun(source: Source): string {
  const texts = useTexts().operations.sourceTab;
  const format = useFormat();
  const parts = [
    texts.documents(source.documents),
    source.synced_at ? texts.lastRun(format.moment(source.synced_at)) : texts.noRun,
    source.synced_by,
    source.refused > 0 && texts.refused(source.refused),
    source.kept > 0 && texts.kept(source.kept),
  ];
  return parts.filter(Boolean).join(" · ");
}

function Row({ source, onPause }: { source: Source; onPause: () => void }) {
  const texts = useTexts().operations.sourceTab;
  const mayWrite = useMayWrite();
  const resume = useChange("/operations/sources/resume");
  const isPaused = source.state === "paused";
  const isWhole = source.refused + source.kept === 0;
  return (
    <li>
      <div>
        <code>{source.source}</code> <span className={isPaused || !isWhole ? "badge partial" : "badge processed"}>{texts.states[source.state]}</span>
        <p>{useLastRun(source)}</p>
        {isPaused && <p className="hint">{[source.state_reason, source.state_by].filter(Boolean).join(" · ")}</p>}
        {resume.error && <Failure error={resume.error} />}
      </div>
      {mayWrite && isPaused && (
        <Button icon={Play} isDisabled={resume.isPending} onPress={() => resume.mutate({ source: source.source, reason: "" })}>
          {texts.resume}
        </Button>
      )}
      {mayWrite && !isPaused && (
        <Button icon={Pause} onPress={onPause}>
          {texts.pause}
        </Button>
      )}
    </li>
  );
}

/** The sources of the workspace: what was read of each, and whether more is. */
export function Sources() {
  const texts = useTexts().operations.sourceTab;
  const api = useApi();
  const workspace = useWorkspace();
  const [pausing, setPausing] = useState("");
  const sources = useQuery({ queryKey: [workspace, "sources"], queryFn: async () => data(await api.GET("/operations/sources")) });
  if (sources.isPending) return <Loading />;
  if (sources.error) return <Failure error={sources.error} retry={() => void sources.refetch()} />;
  if (sources.data.length === 0) return <Empty icon={FolderSync} title={texts.none} />;
  return (
    <>
      <p className="hint">{texts.text}</p>
      <section className="letters" aria-label={texts.title}>
        <ul>
          {sources.data.map((source) => (
            <Row key={source.source} source={source} onPause={() => setPausing(source.source)} />
          ))}
        </ul>
      </section>
      {pausing && <PauseDialog source={pausing} onClose={() => setPausing("")} />}
    </>
  );
}
