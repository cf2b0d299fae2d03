import { FileUp, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { useNavigate } from "react-router";
import { useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { Erasure } from "../documents/Erasure";
import { addFiles } from "../documents/uploads";
import { type Document, useChange } from "../documents/useDocuments";

const FAILED = ["failed", "partial"];

/** What can be done with one document: try again what failed, give it a new text, delete it, have it erased. */
export function DocumentActions({ document }: { document: Document }) {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const leave = () => void navigate(`/${workspace}/documents`);
  const retry = useChange(() => api.POST("/operations/retry", { body: { documents: [document.id], failed: false, reason: "" } }));
  const remove = useChange(async () => {
    await api.DELETE("/documents/delete_document", { body: { doc_ids: [document.id], delete_file: false, delete_llm_cache: false } });
    leave();
  });
  const error = retry.error ?? remove.error;
  return (
    <div className="add">
      {FAILED.includes(document.status) && (
        <Button icon={RotateCw} isDisabled={retry.isPending} onPress={() => retry.mutate(undefined)}>
          {texts.common.retry}
        </Button>
      )}
      <FileTrigger onSelect={(files) => addFiles([...(files ?? [])].slice(0, 1), workspace, document.file_path)}>
        <Button icon={FileUp}>{texts.document.newText}</Button>
      </FileTrigger>
      <Button look="quiet" icon={Trash2} isDisabled={remove.isPending} onPress={() => setAsking(true)}>
        {texts.documents.delete}
      </Button>
      <Erasure ids={[document.id]} onDone={leave} />
      {error && <Failure error={error} />}
      <Confirm
        title={texts.documents.deleteTitle(1)}
        text={texts.documents.deleteText}
        action={texts.documents.delete}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate(undefined)}
      />
    </div>
  );
}
