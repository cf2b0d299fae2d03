import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Schemas, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Dialog } from "../../ui/dialogs";
import { useAddressOf } from "../../ui/pictures";
import { nowOrThen } from "./earlier";

type Figure = Schemas["FigureRef"];

/** A caption that has a number of its own. */
const NUMBERED = /^(fig|abb|图|圖|図|рис)\S*\s*\d/i;

/** A figure with the document that has it. */
export interface FigureOf {
  document: string;
  figure: Figure;
  /** The position of the answer that shows it: the document may have a newer version since. */
  asOf?: number | undefined;
}

/** The address of a picture as the page may show it: the bytes come with the credentials of who asks. */
function usePicture({ document, figure, asOf }: FigureOf): { address: string | undefined; isMissing: boolean } {
  const workspace = useWorkspace();
  const bytes = useQuery({
    queryKey: [workspace, "figure", document, figure.sha256],
    queryFn: async () => (await nowOrThen(`/documents/${encodeURIComponent(document)}/figures/${figure.sha256}`, {}, workspace, asOf)).blob(),
    staleTime: Infinity,
    retry: false,
  });
  return { address: useAddressOf(bytes.data), isMissing: bytes.isError };
}

function FigureView({ of, isDescribed }: { of: FigureOf; isDescribed: boolean }) {
  const texts = useTexts().document;
  const [isOpen, setOpen] = useState(false);
  const { figure } = of;
  const { address, isMissing } = usePicture(of);
  const name = NUMBERED.test(figure.caption) ? figure.caption : texts.figure(figure.number, figure.caption);
  const picture = address && <img src={address} alt={name} width={figure.width} height={figure.height} />;
  return (
    <figure>
      {picture ? (
        <button type="button" aria-label={texts.enlarge(name)} onClick={() => setOpen(true)}>
          {picture}
        </button>
      ) : (
        isMissing && <span className="hint">{texts.noFigure}</span>
      )}
      <figcaption>
        {name}
        {typeof figure.page === "number" && <span className="hint"> · {texts.pageNumber(figure.page)}</span>}
        {isDescribed && figure.description && <p className="description">{figure.description}</p>}
      </figcaption>
      <Dialog title={name} isOpen={isOpen} onClose={() => setOpen(false)} wide>
        <div className="enlarged">{picture}</div>
        {figure.description && <p>{figure.description}</p>}
      </Dialog>
    </figure>
  );
}

/** The figures of passages, each once; with what a model says of them, where the passages are not read beside them. */
export function Figures({ of, isDescribed = false }: { of: readonly FigureOf[]; isDescribed?: boolean }) {
  const texts = useTexts().document;
  // The passage that is a description has it, those that only name the figure do not.
  const figures = [...of].sort((one, other) => Number(Boolean(one.figure.description)) - Number(Boolean(other.figure.description)));
  const distinct = [...new Map(figures.map((figure) => [`${figure.document}\n${figure.figure.sha256}`, figure])).values()];
  if (distinct.length === 0) return null;
  return (
    <div className="figures" role="group" aria-label={texts.figures}>
      {distinct.map((figure) => (
        <FigureView key={`${figure.document}\n${figure.figure.sha256}`} of={figure} isDescribed={isDescribed} />
      ))}
    </div>
  );
}
