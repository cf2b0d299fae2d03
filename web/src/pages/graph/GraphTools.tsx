import { Download } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, Select } from "../../ui/controls";
import { asGraphML, asJSON, save } from "./exports";
import type { DrawnGraph } from "./useSubgraph";

type LegendProps = { types: Map<string, string>; hidden: ReadonlySet<string>; onChange: (hidden: Set<string>) => void };

/** The kinds of entities with their colours; one that is pressed out is hidden. */
export function Legend({ types, hidden, onChange }: LegendProps) {
  const texts = useTexts();
  const toggle = (type: string) => {
    const next = new Set(hidden);
    if (!next.delete(type)) next.add(type);
    onChange(next);
  };
  return (
    <fieldset className="filters">
      <legend className="hidden">{texts.graph.types}</legend>
      {[...types].map(([type, color]) => (
        <button key={type} type="button" className="chip type" aria-pressed={!hidden.has(type)} onClick={() => toggle(type)}>
          <i style={{ background: color }} aria-hidden />
          {type}
        </button>
      ))}
    </fieldset>
  );
}

const ALL = "";

/** Shows what one document says, of what is drawn. */
export function DocumentFilter({ graph, value, onChange }: { graph: DrawnGraph; value: string; onChange: (file: string) => void }) {
  const texts = useTexts();
  const files = [...new Set(graph.mapNodes((_, { facts }) => facts.files).flat())].sort();
  if (files.length < 2) return null;
  return (
    <Select
      label={texts.graph.document}
      hideLabel
      value={value}
      onChange={onChange}
      choices={[{ id: ALL, name: texts.graph.allDocuments }, ...files.map((id) => ({ id, name: id }))]}
    />
  );
}

/** Keeps what is drawn as a file. `picture` draws it as PNG. */
export function ExportMenu({ graph, picture }: { graph: DrawnGraph; picture: () => Promise<Blob | null> }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const name = (suffix: string) => `graph-${workspace}.${suffix}`;
  const kept: Record<string, () => void | Promise<void>> = {
    PNG: async () => {
      const drawn = await picture();
      if (drawn) save(name("png"), drawn);
    },
    GraphML: () => save(name("graphml"), new Blob([asGraphML(graph)], { type: "application/xml" })),
    JSON: () => save(name("json"), new Blob([asJSON(graph)], { type: "application/json" })),
  };
  return (
    <MenuTrigger>
      <Button look="quiet" icon={Download} label={texts.graph.export} />
      <Popover className="popover">
        <Menu className="options" aria-label={texts.graph.export} onAction={(key) => void kept[String(key)]?.()}>
          {Object.keys(kept).map((kind) => (
            <MenuItem key={kind} id={kind} textValue={kind} className="option">
              {kind}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
