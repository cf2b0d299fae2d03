import { Combine } from "lucide-react";
import { useState } from "react";
import { Checkbox } from "react-aria-components";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { isHidden, type View } from "./looks";
import { MergeSelected } from "./MergeSelected";
import type { DrawnGraph } from "./useSubgraph";

type NodeListProps = {
  graph: DrawnGraph;
  view: View;
  onSelect: (name: string) => void;
  /** Is told the entity that others became; without it nothing can be merged. */
  onMerged: ((name: string) => void) | undefined;
};

/** What the canvas shows, as a list, for keyboards and those who do not see it, and for merging several. */
export function NodeList({ graph, view, onSelect, onMerged }: NodeListProps) {
  const texts = useTexts();
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [isMerging, setMerging] = useState(false);
  const nodes = graph
    .filterNodes((_, { facts }) => !isHidden(facts, view))
    .map((name) => ({ name, type: graph.getNodeAttribute(name, "facts").type, degree: graph.degree(name), change: view.changes?.nodes.get(name) }))
    .sort((one, other) => other.degree - one.degree || one.name.localeCompare(other.name));
  const names = nodes.map(({ name }) => name).filter((name) => ticked.has(name));
  const tick = (name: string, isOn: boolean) => setTicked(new Set(isOn ? [...ticked, name] : [...ticked].filter((one) => one !== name)));
  const merged = (name: string) => {
    setTicked(new Set());
    onMerged?.(name);
  };
  return (
    <div className="node-list">
      {onMerged && names.length > 1 && (
        <Button icon={Combine} onPress={() => setMerging(true)}>
          {texts.graph.mergeSelected(names.length)}
        </Button>
      )}
      <ul aria-label={texts.graph.list}>
        {nodes.map(({ name, type, degree, change }) => (
          <li key={name}>
            {onMerged && (
              <Checkbox className="tick" aria-label={texts.documents.select(name)} isSelected={ticked.has(name)} onChange={(isOn) => tick(name, isOn)}>
                <span className="mark" aria-hidden />
              </Checkbox>
            )}
            <button type="button" onClick={() => onSelect(name)}>
              {name} <span>{type}</span> <span>{degree}</span> {change && <span className={change}>{texts.graph.changes[change]}</span>}
            </button>
          </li>
        ))}
      </ul>
      {isMerging && <MergeSelected names={names} onClose={() => setMerging(false)} onMerged={merged} />}
    </div>
  );
}
