import { Tag } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { readUntil } from "../../api/looks";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { tagsIn, tagsOf } from "../documents/tags";
import { type Document, useChange } from "../documents/useDocuments";

/** Gives a document tags; done once the lists have them. */
function useTagging(id: string, onDone: () => void) {
  const api = useApi();
  return useChange(async (tags: string[]) => {
    const given = data(await api.PUT("/documents/{document_id}/tags", { params: { path: { document_id: id } }, body: { tags, reason: "" } }));
    await readUntil(
      async () => data(await api.GET("/documents/by_id", { params: { query: { doc_id: id } } })),
      (document) => String(tagsOf(document)) === String(given.tags),
    );
    onDone();
  });
}

function TagsDialog({ document, onClose }: { document: Document; onClose: () => void }) {
  const texts = useTexts();
  const [written, setWritten] = useState(tagsOf(document).join(", "));
  const tagging = useTagging(document.id, onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    tagging.mutate(tagsIn(written));
  };
  return (
    <Dialog title={texts.document.tagsOf(document.file_path)} isOpen onClose={onClose}>
      <form onSubmit={submit}>
        {tagging.error && <Failure error={tagging.error} />}
        <TextInput label={texts.document.tags} hint={texts.document.tagsHelp} value={written} onChange={setWritten} placeholder={texts.ask.tagsExample} autoFocus />
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={tagging.isPending}>
            {texts.document.saveTags}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The tags of a document: each leads to questions of all documents that have it. */
export function Tags({ document }: { document: Document }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const [isOpen, setOpen] = useState(false);
  const tags = tagsOf(document);
  return (
    <div className="tags">
      {tags.length > 0 && (
        <ul aria-label={texts.document.tags}>
          {tags.map((tag) => (
            <li key={tag}>
              <Link className="chip" to={`/${workspace}/ask?tags=${encodeURIComponent(tag)}`} title={texts.document.askOfTag(tag)}>
                {tag}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {mayWrite && (
        <Button look="quiet" icon={Tag} className="small" onPress={() => setOpen(true)}>
          {texts.document.editTags}
        </Button>
      )}
      {isOpen && <TagsDialog document={document} onClose={() => setOpen(false)} />}
    </div>
  );
}
