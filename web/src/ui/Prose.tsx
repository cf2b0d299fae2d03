import { memo, type ReactNode } from "react";
import Markdown, { type Components } from "react-markdown";
import gfm from "remark-gfm";

/** A part of a text that is shown in a way of its own, in its characters. */
export interface Part {
  start: number;
  end: number;
  look: "cited" | "shared";
}

/** Kinds of files whose text is Markdown: they are, or are read into it. A test holds them to the kinds that are read. */
const MARKDOWN = new Set(
  (
    "md markdown mdx html htm docx docm dotx dotm pptx pptm ppsx ppsm potx potm xlsx xlsm xltx xltm " +
    "odt ott ods ots odp otp csv tsv epub ipynb"
  ).split(" "),
);

export const isMarkdown = (name: string) => MARKDOWN.has(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "");

/** Whether an address leads out of this page by itself. A relative one would lead into this server, which has nothing of it. */
const leadsOut = (href: string) => /^(https?:\/\/|mailto:)/i.test(href);

/** A link in a text; one that leads nowhere is its words. */
export function TextLink({ href, children }: { href: string; children: ReactNode }) {
  if (!leadsOut(href)) return <span title={href}>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

/** Headings of a text stand below those of the page; pictures are named, for nothing is loaded from anywhere. */
export const PROSE: Components = {
  a: ({ href = "", children }) => <TextLink href={href}>{children}</TextLink>,
  img: ({ alt }) => <em>{alt}</em>,
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  // It scrolls sideways, which a keyboard must reach.
  table: ({ children }) => (
    <div className="table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

interface Node {
  type: string;
  value?: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
}

interface Piece {
  text: string;
  looks: Set<Part["look"]>;
}

/** Cuts a text at the ends of the parts that reach into it. */
function pieces(text: string, parts: readonly Part[]): Piece[] {
  const cuts = parts.flatMap(({ start, end }) => [start, end]).filter((cut) => cut > 0 && cut < text.length);
  const ends = [...new Set([0, ...cuts, text.length])].sort((one, other) => one - other);
  return ends.slice(1).map((end, index) => {
    const start = ends[index] ?? 0;
    const over = parts.filter((part) => part.start < end && part.end > start);
    return { text: text.slice(start, end), looks: new Set(over.map(({ look }) => look)) };
  });
}

/** The parts of a text node, counted from its beginning. */
function inside(node: Node, source: string, parts: readonly Part[]): Part[] {
  const [from, to] = [node.position?.start.offset, node.position?.end.offset];
  if (from === undefined || to === undefined) return [];
  const value = node.value ?? "";
  const over = parts.filter(({ start, end }) => start < to && end > from);
  if (value.length === to - from) return over.map((part) => ({ ...part, start: part.start - from, end: part.end - from }));
  // Its source has signs that are not shown.
  return over.map((part) => {
    const said = source.slice(Math.max(part.start, from), Math.min(part.end, to));
    const at = value.indexOf(said);
    return at < 0 ? { ...part, start: 0, end: value.length } : { ...part, start: at, end: at + said.length };
  });
}

function marked(node: Node, source: string, parts: readonly Part[]): Node[] {
  if (node.type !== "text") return [{ ...node, ...(node.children ? { children: node.children.flatMap((child) => marked(child, source, parts)) } : {}) }];
  return pieces(node.value ?? "", inside(node, source, parts)).map(({ text, looks }) => {
    const plain: Node = { type: "text", value: text };
    const tagName = looks.has("cited") ? "mark" : looks.has("shared") ? "span" : "";
    return tagName ? { type: "element", tagName, properties: looks.has("shared") ? { className: ["shared"] } : {}, children: [plain] } : plain;
  });
}

/** A table that begins in the passage before has no header here, without which its rows are no table. */
function withHeader(text: string): { text: string; at: number; added: number } {
  const row = /^\|.*\|[ \t]*$/m.exec(text);
  const at = row?.index ?? 0;
  const next = text.slice(at + (row?.[0].length ?? 0) + 1).split("\n", 1)[0] ?? "";
  if (!row || /^\|?[\s:|-]*-[\s:|-]*$/.test(next) || text.slice(0, at).includes("\n\n")) return { text, at, added: 0 };
  const columns = row[0].replaceAll("\\|", "").split("|").length - 2;
  const header = `${at > 0 ? "\n" : ""}|${"  |".repeat(columns)}\n|${"---|".repeat(columns)}\n`;
  return { text: text.slice(0, at) + header + text.slice(at), at, added: header.length };
}

type ProseProps = { text: string; parts?: readonly Part[]; isPlain: boolean };
const NO_PARTS: readonly Part[] = [];

/** A text as what it is: Markdown, with its tables, or plain. HTML in it is shown as text. */
export const Prose = memo(function Prose({ text, parts = NO_PARTS, isPlain }: ProseProps) {
  if (isPlain)
    return (
      <div className="plain">
        {pieces(text, parts).map(({ text: piece, looks }, index) => {
          const shared = looks.has("shared") ? "shared" : "";
          return looks.has("cited") ? (
            <mark key={index} className={shared}>
              {piece}
            </mark>
          ) : (
            <span key={index} className={shared}>
              {piece}
            </span>
          );
        })}
      </div>
    );
  const { text: source, at, added } = withHeader(text);
  const moved = (offset: number) => (offset > at || (offset === at && at === 0) ? offset + added : offset);
  const placed = parts.map((part) => ({ ...part, start: moved(part.start), end: moved(part.end) }));
  const mark = () => (tree: Node) => {
    tree.children = (tree.children ?? []).flatMap((child) => marked(child, source, placed));
  };
  return (
    <div className="prose">
      <Markdown remarkPlugins={[gfm]} rehypePlugins={[mark as never]} components={PROSE}>
        {source}
      </Markdown>
    </div>
  );
});
