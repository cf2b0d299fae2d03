import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { Notice } from "../../ui/notices";
import type { OutdatedSource } from "../ask/stream";

/** What an answer rests on that is not in force, and what supersedes it. */
export function Outdated({ sources }: { sources: OutdatedSource[] }) {
  const texts = useTexts().validity;
  const format = useFormat();
  if (sources.length === 0) return null;
  const reasons = ({ file_path, superseded_by, valid_from, valid_until }: OutdatedSource) => [
    ...superseded_by.map((newer) => texts.replaced(file_path, newer.file_path, format.day(newer.since))),
    ...(valid_from ? [texts.holdsFrom(file_path, format.day(valid_from))] : []),
    ...(valid_until ? [texts.heldUntil(file_path, format.day(valid_until))] : []),
  ];
  return (
    <Notice kind="warning" title={texts.outdated}>
      <ul className="warnings">
        {sources.flatMap(reasons).map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </Notice>
  );
}
