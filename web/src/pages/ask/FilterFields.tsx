import { X } from "lucide-react";
import { useDocumentName } from "../../api/documentNames";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { DocumentPicker } from "../documents/DocumentPicker";
import { type DocumentFilter, listOf } from "./documentFilter";

function Chosen({ id, onRemove }: { id: string; onRemove: () => void }) {
  const texts = useTexts();
  const name = useDocumentName(id) || id;
  return (
    <li>
      <span title={name}>{name}</span>
      <Button look="quiet" icon={X} className="small" label={texts.ask.without(name)} onPress={onRemove} />
    </li>
  );
}

type FilterFieldsProps = { given: DocumentFilter; onChange: (change: Partial<DocumentFilter>) => void };

/** Which documents questions are about: those that are chosen, have the tags, and were added in these days. */
export function FilterFields({ given, onChange }: FilterFieldsProps) {
  const texts = useTexts().ask;
  const ids = listOf(given.documents);
  const set = (documents: string[]) => onChange({ documents: [...new Set(documents)].join(",") });
  return (
    <fieldset className="filter-of-question">
      <legend>{texts.only}</legend>
      <DocumentPicker label={texts.onlyDocument} value="" onChange={(id) => id && set([...ids, id])} isOnce />
      {ids.length > 0 && (
        <ul aria-label={texts.onlyDocuments}>
          {ids.map((id) => (
            <Chosen key={id} id={id} onRemove={() => set(ids.filter((other) => other !== id))} />
          ))}
        </ul>
      )}
      <TextInput label={texts.onlyTags} value={given.tags} onChange={(tags) => onChange({ tags })} placeholder={texts.tagsExample} />
      <TextInput type="date" label={texts.addedFrom} value={given.from} onChange={(from) => onChange({ from })} />
      <TextInput type="date" label={texts.addedUntil} value={given.until} onChange={(until) => onChange({ until })} />
    </fieldset>
  );
}
