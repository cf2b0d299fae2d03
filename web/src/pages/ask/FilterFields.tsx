import { useTexts } from "../../texts";
import { TextInput } from "../../ui/controls";
import { ChosenDocuments } from "../documents/ChosenDocuments";
import { DocumentPicker } from "../documents/DocumentPicker";
import { type DocumentFilter, listOf } from "./documentFilter";

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
      <ChosenDocuments label={texts.onlyDocuments} ids={ids} withoutLabel={texts.without} onChange={set} />
      <TextInput label={texts.onlyTags} value={given.tags} onChange={(tags) => onChange({ tags })} placeholder={texts.tagsExample} />
      <TextInput type="date" label={texts.addedFrom} value={given.from} onChange={(from) => onChange({ from })} />
      <TextInput type="date" label={texts.addedUntil} value={given.until} onChange={(until) => onChange({ until })} />
    </fieldset>
  );
}
