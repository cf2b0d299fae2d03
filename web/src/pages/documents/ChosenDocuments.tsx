import { X } from "lucide-react";
import { useDocumentName } from "../../api/documentNames";
import { Button } from "../../ui/controls";

type ChosenProps = { id: string; withoutLabel: (name: string) => string; onRemove: () => void };

function Chosen({ id, withoutLabel, onRemove }: ChosenProps) {
  const name = useDocumentName(id) || id;
  return (
    <li>
      <span title={name}>{name}</span>
      <Button look="quiet" icon={X} className="small" label={withoutLabel(name)} onPress={onRemove} />
    </li>
  );
}

type ChosenDocumentsProps = {
  label: string;
  ids: readonly string[];
  withoutLabel: (name: string) => string;
  onChange: (ids: string[]) => void;
};

/** Documents that were chosen, by their names, each to be left out again; nothing while there are none. */
export function ChosenDocuments({ label, ids, withoutLabel, onChange }: ChosenDocumentsProps) {
  if (ids.length === 0) return null;
  return (
    <ul aria-label={label}>
      {ids.map((id) => (
        <Chosen key={id} id={id} withoutLabel={withoutLabel} onRemove={() => onChange(ids.filter((other) => other !== id))} />
      ))}
    </ul>
  );
}
